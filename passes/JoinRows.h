//===- JoinRows.h - parts of the batch that become one tensor ---*- C++ -*-===//
#ifndef GC_PASSES_JOINROWS_H
#define GC_PASSES_JOINROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// Rewrites what joins rows into chains of gc.put_rows, so that a part dies as soon as it has its
/// place: concatenations along axis 0, and sums with gc.pad along axis 0.
void joinRows(mlir::func::FuncOp function);

} // namespace gc

#endif
