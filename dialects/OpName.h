//===- OpName.h - what people call an op ------------------------*- C++ -*-===//
#ifndef GC_DIALECTS_OPNAME_H
#define GC_DIALECTS_OPNAME_H

#include "mlir/IR/Operation.h"
#include <string>

namespace gc {
/// "layer1.0.conv1:conv2d" where the op's location has a name, else "conv2d@model.mlir:12" after
/// the file and line that it was read from; "conv2d" alone where it was made without either.
std::string displayName(mlir::Operation *op);

/// Such a name without file and line, which change where a model is moved or gets a comment.
std::string nameWithoutPlace(llvm::StringRef displayName);
} // namespace gc

#endif
