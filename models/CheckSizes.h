//===- CheckSizes.h - are the sizes of a network possible -------*- C++ -*-===//
#ifndef GC_MODELS_CHECKSIZES_H
#define GC_MODELS_CHECKSIZES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <initializer_list>

namespace gc::models {

/// No size may be larger: products of any four then stay far inside 64 bits.
inline constexpr int64_t largestSize = 65536;

struct Size {
  llvm::StringRef flag; // as on the command line, without dashes
  int64_t value;
  int64_t smallest = 1;
  int64_t largest = largestSize;
};

/// An error naming the first size that is out of range.
llvm::Error checkSizes(std::initializer_list<Size> sizes);

/// An error unless `value` is one of `allowed`.
llvm::Error checkOneOf(llvm::StringRef flag, int64_t value, llvm::ArrayRef<int64_t> allowed);

/// Batch norm over one value a channel has no variance (PyTorch refuses it too): an error unless
/// `batch` samples of `side` x `side` pixels are at least two values.
llvm::Error checkBatchNorm(int64_t batch, int64_t side);

/// An error with a formatted message.
llvm::Error badSize(const llvm::Twine &message);

} // namespace gc::models

#endif
