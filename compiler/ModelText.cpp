//===- ModelText.cpp - is a text fit for MLIR's parser --------------------===//
#include "compiler/ModelText.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBufferRef.h"

using llvm::StringRef;

namespace gc {
namespace {

bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

class Scan {
public:
  Scan(StringRef text, StringRef name) : text(text), name(name) {}

  std::string run() {
    while (fault.empty() && at < text.size())
      step();
    return fault;
  }

private:
  void step() {
    char c = text[at];
    if (c == '"')
      skipString();
    else if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else if (text.substr(at).starts_with("->"))
      at += 2;
    else if (c == '#' || c == '!')
      takeAlias();
    else if (isWordCharacter(c))
      takeWord();
    else
      takeBracket(c);
  }

  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      at += text[at] == '\\';
    ++at;
  }

  StringRef takeWord() {
    size_t begin = at;
    at = std::min(text.find_if_not(isWordCharacter, at), text.size());
    if (at - begin > kLongestWord)
      refuse(begin, "a word has " + std::to_string(at - begin) + " characters, expected at most " +
                        std::to_string(kLongestWord));
    return text.slice(begin, at);
  }

  // `#name` and `!name` stand for what `#name = ...` has said at the beginning of a line, so they
  // are as deep as that.
  void takeAlias() {
    size_t begin = at++;
    takeWord();
    StringRef alias = text.slice(begin, at);
    bool startsLine = text.take_front(begin).rtrim(" \t").ends_with("\n") || begin == 0;
    if (startsLine && text.drop_front(at).ltrim(" \t").starts_with("=")) {
      defined = alias;
      open = 0;
      depthOf[alias] = 1;
      sizeOf[alias] = 1;
      return;
    }
    auto found = depthOf.find(alias);
    if (found == depthOf.end() || alias == defined)
      return;
    reach(begin, open + found->second);
    if (!defined.empty() && (sizeOf[defined] += sizeOf[alias]) > kLargestAlias)
      refuse(begin, "an alias stands for more than " + std::to_string(kLargestAlias) + " others");
  }

  void takeBracket(char c) {
    if (StringRef("([{<").contains(c))
      reach(at, ++open);
    else if (StringRef(")]}>").contains(c))
      open -= open > 0;
    // A new line ends the definition of an alias unless a bracket is still open.
    else if (c == '\n' && open == 0)
      defined = "";
    if (StringRef("+-*").contains(c) && ++signs > kMostSigns)
      refuse(at, "an expression has more than " + std::to_string(kMostSigns) + " signs");
    else if (StringRef(",={}").contains(c))
      signs = 0;
    ++at;
  }

  void reach(size_t where, unsigned depth) {
    if (depth > kDeepestNesting)
      refuse(where, "brackets nest deeper than " + std::to_string(kDeepestNesting));
    if (!defined.empty())
      depthOf[defined] = std::max(depthOf[defined], depth + 1);
  }

  void refuse(size_t where, const std::string &reason) {
    StringRef before = text.take_front(where);
    size_t line = before.count('\n') + 1;
    size_t column = where - (before.rfind('\n') + 1) + 1; // npos + 1 is 0
    fault = name.str() + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + reason;
  }

  StringRef text, name;
  size_t at = 0;
  unsigned open = 0;                 // brackets that are open here
  unsigned signs = 0;                // arithmetic signs of the expression so far
  StringRef defined;                 // the alias that is being defined; empty: none
  llvm::StringMap<unsigned> depthOf; // for each alias so far, how deep its brackets nest
  llvm::StringMap<uint64_t> sizeOf;  // for each alias so far, its size when written out
  std::string fault;
};

} // namespace

std::string refuseModelText(StringRef text, StringRef name) {
  if (mlir::isBytecode(llvm::MemoryBufferRef(text, name)))
    return name.str() + ": is MLIR bytecode; expected text (mlir-opt turns bytecode into text)";
  return Scan(text, name).run();
}

} // namespace gc
