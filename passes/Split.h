//===- Split.h - chains of ops in parts of the batch ------------*- C++ -*-===//
#ifndef GC_PASSES_SPLIT_H
#define GC_PASSES_SPLIT_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// Ops of a model, by their places in its body, that keep the samples of a batch apart.
struct SampleChain {
  unsigned first = 0, last = 0; // both included
  /// Of the op that reads and writes most: bytes of the batch, without parameters.
  int64_t largestBytes = 0;
  /// Of the values that are made and read inside alone.
  int64_t insideBytes = 0;
};

/// The chains of the model that are worth being split into `parts` parts of the batch, in their
/// order: each as long as it goes, or shorter where less then crosses its ends. Empty where
/// nothing can be split, also where `parts` does not divide the batch.
llvm::SmallVector<SampleChain> findSampleChains(mlir::func::FuncOp model, int64_t parts);

/// Rewrites the chains, which must be in order and apart, into `parts` parts of the batch. Fails,
/// with an error at the op, where it mixes samples or cannot run on a part of the batch.
llvm::LogicalResult splitChains(mlir::func::FuncOp model, llvm::ArrayRef<SampleChain> chains,
                                int64_t parts);

/// Which part of which chain an op was made for, also by autodiff or fusion; its location tells.
struct ChainPart {
  int64_t chain, part;
  bool operator==(const ChainPart &other) const = default;
};
/// Nothing where the op belongs to no part, or to several.
std::optional<ChainPart> chainPartOf(mlir::Operation *op);

/// Chains as text, "3-12,20-31", and back; nothing where the text is none.
std::string textOf(llvm::ArrayRef<SampleChain> chains);
std::optional<llvm::SmallVector<SampleChain>> readChains(llvm::StringRef text);

} // namespace gc

#endif
