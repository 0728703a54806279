//===- WorkText.h - what an op does, as a key -------------------*- C++ -*-===//
#ifndef GC_COMPILER_TARGET_WORKTEXT_H
#define GC_COMPILER_TARGET_WORKTEXT_H

#include "mlir/IR/Operation.h"
#include <string>

namespace gc {

/// Equal for ops that take the same time on one machine: the kind, the types of operands and
/// results and, as a number, all attributes and inner ops but names and constants (a learning
/// rate). "conv2d 8x56x56x64xf32,256x1x1x64xf32->8x56x56x256xf32 #1b3d5f70"
std::string workText(mlir::Operation *op);

} // namespace gc

#endif // GC_COMPILER_TARGET_WORKTEXT_H
