//===- OpenModel.h - a model's text as a module -----------------*- C++ -*-===//
#ifndef GC_COMPILER_OPENMODEL_H
#define GC_COMPILER_OPENMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace gc {

/// The module of a text, with the context that it lives in.
class OpenModel {
public:
  /// `name` names the file in messages.
  OpenModel(const std::string &text, const std::string &name);

  /// Why there is no module; empty where there is one.
  const std::string &error() const { return reason; }
  mlir::MLIRContext &context() { return own; }
  mlir::ModuleOp module() { return *parsed; }

private:
  mlir::MLIRContext own;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  std::string reason;
};

} // namespace gc

#endif
