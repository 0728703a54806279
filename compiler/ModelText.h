//===- ModelText.h - is a text fit for MLIR's parser ------------*- C++ -*-===//
//
// MLIR's parser, verifier and printer descend into brackets by recursion and read a shape anew for
// each of its dimensions: a hostile text would end them by a stack overflow, or never. One look
// over the text comes before.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_MODELTEXT_H
#define GC_COMPILER_MODELTEXT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace gc {

/// How deep brackets may nest; an alias counts as deep as what it stands for.
inline constexpr unsigned kDeepestNesting = 256;
/// How long a word (a name, a number, a shape) may be.
inline constexpr unsigned kLongestWord = 4096;
/// Signs of arithmetic in one expression (affine maps): the parser calls itself for each.
inline constexpr unsigned kMostSigns = 1000;
/// How large one alias may be when all aliases in it are written out.
inline constexpr uint64_t kLargestAlias = 1'000'000;

/// Why `text` cannot be given to the parser, as "name:line:column: reason"; empty if it can.
/// Bytecode cannot: its reader was not made for input that nobody vouches for.
std::string refuseModelText(llvm::StringRef text, llvm::StringRef name);

} // namespace gc

#endif
