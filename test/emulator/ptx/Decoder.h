//===- Decoder.h - a kernel's statements as decoded instructions -----------===//
//
// Calls are expanded in place: a called function's registers get rows of their own for every call,
// its parameters are the caller's variables. So there is no stack, and no recursion.
//===----------------------------------------------------------------------===//
#pragma once

#include "test/emulator/ptx/Builder.h"

namespace gc::emulator::ptx {

struct Symbol {
  enum class Kind { Register, Family, Variable };
  Kind kind = Kind::Register;
  Operand operand;    ///< registers
  uint32_t bytes = 0; ///< registers: width; 0: a predicate
  uint32_t count = 0; ///< families: %r<count>
  Space space = Space::Register;
  uint64_t address = 0; ///< variables: within their space
};
using Symbols = std::map<std::string, Symbol, std::less<>>;

/// What all kernels of a module see.
struct ModuleScope {
  const ModuleSyntax &syntax;
  Symbols variables; ///< .global and .const
};

class FunctionDecoder {
public:
  FunctionDecoder(const ModuleScope &module, const Function &function, Kernel &kernel);
  void decode();

  /// The row of a constant.
  Operand constant(uint64_t bits, uint32_t bytes);
  Operand scratch(uint32_t bytes) { return allocateRegister(bytes); }
  const Symbol *lookup(const std::string &name);
  std::optional<Operand> special(const std::string &name, uint32_t &bytes);
  /// In called functions, parameters are the caller's variables.
  bool inCall() const { return depth > 0; }
  Kernel &kernel;

private:
  struct Scope {
    Symbols symbols;
    std::map<std::string, uint32_t> labels;
    std::map<std::string, std::vector<std::string>> targetLists;
  };
  struct Fixup {
    size_t instruction;
    std::vector<std::string> labels;
    bool indirect;
    std::vector<size_t> scopes; ///< open where the branch stands, outermost first
    size_t line;
  };
  void layOutParameters();
  void layOutShared();
  void collectNames(const Function &function, std::map<std::string, bool> &names, int depth);
  void decodeBody(const Function &function, Symbols bindings);
  void statement(const Statement &statement, const Function &function);
  void declare(const Declaration &declaration, const Function &function);
  bool control(const Statement &statement);
  void call(const Statement &statement);
  void branch(const Statement &statement, const std::vector<std::string> &labels, bool indirect,
              Builder &builder);
  void append(Builder &builder);
  void resolveLabels(size_t firstFixup);
  Operand allocateRegister(uint32_t bytes);
  uint32_t allocateRow(uint32_t bytes);
  uint64_t allocateLocal(const Declaration &declaration);
  [[noreturn]] void fail(size_t line, const std::string &what) const;

  const ModuleScope &module;
  const Function &function;
  Symbols shared, parameters;
  std::vector<Scope> scopes; ///< all that ever were, since branches are resolved late
  std::vector<size_t> open;  ///< indices into scopes
  std::vector<Fixup> fixups;
  std::vector<size_t> returns; ///< of the called function, to be sent to its end
  std::map<std::pair<uint32_t, uint64_t>, Operand> constants;
  std::map<std::string, std::pair<Operand, uint32_t>> specials;
  std::vector<size_t> firstOperand; ///< of each instruction
  uint32_t predicatesLeft = 0, predicateOffset = 0;
  int depth = 0;
};

} // namespace gc::emulator::ptx
