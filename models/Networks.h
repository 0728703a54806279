//===- Networks.h - networks as gc IR ---------------------------*- C++ -*-===//
#ifndef GC_MODELS_NETWORKS_H
#define GC_MODELS_NETWORKS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "models/NetworkOptions.h"
#include "llvm/Support/Error.h"

namespace gc::models {

/// A module that the caller owns, or why the options do not make a network (a sentence for the
/// user, naming the flag and the values that work).
using Network = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

/// Each loads the dialects that it needs into `context` and returns a verified module named after
/// the network (`mnist`, `cnn11`, `vgg16`, `resnet18`, `vit_small`, `encoder`).
Network buildMnist(mlir::MLIRContext &context, const MnistOptions &options);
Network buildCnn11(mlir::MLIRContext &context, const Cnn11Options &options);
Network buildVgg(mlir::MLIRContext &context, const VggOptions &options);
Network buildResnet(mlir::MLIRContext &context, const ResnetOptions &options);
Network buildVit(mlir::MLIRContext &context, const VitOptions &options);
Network buildEncoder(mlir::MLIRContext &context, const EncoderOptions &options);

/// Whichever the options are for.
Network buildNetwork(mlir::MLIRContext &context, const NetworkOptions &options);

} // namespace gc::models

#endif
