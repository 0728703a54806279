//===- AccumulateProducts.h - kernels that add to accumulators --*- C++ -*-===//
#ifndef GC_PASSES_ACCUMULATEPRODUCTS_H
#define GC_PASSES_ACCUMULATEPRODUCTS_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// Says whether the gc.accumulate_product is a better way to run the op.
using PreferAccumulating = llvm::function_ref<bool(mlir::Operation *, AccumulateProductOp)>;

/// Puts every op whose results are accumulated, and used nowhere else, into a gc.accumulate_product
/// where `prefer` says so. Returns how many.
int accumulateInProducts(mlir::func::FuncOp function, PreferAccumulating prefer);

} // namespace gc

#endif
