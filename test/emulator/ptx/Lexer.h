//===- Lexer.h - PTX text as tokens ----------------------------------------===//
#pragma once

#include "test/emulator/ptx/Ptx.h"

namespace gc::emulator::ptx {

struct Token {
  enum class Kind { Word, Dotted, Integer, Single, Double, String, Punctuation, End };
  Kind kind = Kind::End;
  std::string_view text; ///< of the source; a Dotted word without its dot
  uint64_t bits = 0;     ///< of numbers
  size_t line = 0;
};

/// Comments are gone. The last token is an End. The text must outlive the tokens.
std::vector<Token> tokenize(std::string_view text);

} // namespace gc::emulator::ptx
