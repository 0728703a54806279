//===- OpName.h - what people call an op ------------------------*- C++ -*-===//
#ifndef GC_DIALECTS_OPNAME_H
#define GC_DIALECTS_OPNAME_H

#include "mlir/IR/Operation.h"
#include <string>

namespace gc {
/// "layer1.0.conv1:conv2d" where the op's location has a name, else "conv2d".
std::string displayName(mlir::Operation *op);
} // namespace gc

#endif
