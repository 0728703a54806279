//===- ModelFunction.h - the functions of a module --------------*- C++ -*-===//
//
// A module starts with one function that computes a loss (@model). Passes make of it @train and
// @evaluate, which carry the name of the command list that they become.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_MODELFUNCTION_H
#define GC_PASSES_MODELFUNCTION_H

#include "dialects/InterfaceTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace gc {

/// Attribute of a function: the command list that it becomes.
inline constexpr llvm::StringLiteral kListAttr = "gc.list";
inline constexpr llvm::StringLiteral kMicroBatchList = "micro_batch";
inline constexpr llvm::StringLiteral kStepList = "step";
inline constexpr llvm::StringLiteral kEvaluateList = "evaluate";
/// Attribute of a function's argument: its name for the runtime, which fills two, the samples and
/// their classes, and where labels are mixed the other class of each and the share of the first
/// one, a number for a whole micro-batch.
inline constexpr llvm::StringLiteral kInputAttr = "gc.input";
inline constexpr llvm::StringLiteral kImageInput = "image";
inline constexpr llvm::StringLiteral kLabelInput = "label";
inline constexpr llvm::StringLiteral kMixedLabelInput = "mixed_label";
inline constexpr llvm::StringLiteral kShareInput = "share";
/// Attribute of a function's result: its name for the runtime, which reads two: the loss, and how
/// many samples of the batch were classified right.
inline constexpr llvm::StringLiteral kOutputAttr = "gc.output";
inline constexpr llvm::StringLiteral kLossOutput = "loss";
inline constexpr llvm::StringLiteral kCorrectOutput = "correct";

/// The one function with a loss that is no command list yet; an error at the module where there is
/// none or several, or where its body is not a single block.
llvm::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module);

/// The function of a command list; an error at the module, naming `pass`, where there is none.
llvm::FailureOr<mlir::func::FuncOp> findList(mlir::ModuleOp module, llvm::StringRef list,
                                             llvm::StringRef pass);

/// The value that `function` returns as its loss, null where it has none.
mlir::Value findLoss(mlir::func::FuncOp function);

/// How the numbers that `value`, returned as `output`, has for several batches become one. The loss
/// is their mean whatever computes it, because the gradients are those of the mean; any other
/// number is what the op says that computes it. An error at an op that does not say it.
llvm::FailureOr<BatchReduction> reductionOf(llvm::StringRef output, mlir::Value value);

/// Fails, with an error at the symbol, where `name` is taken.
llvm::LogicalResult requireFreeName(const mlir::SymbolTable &symbols, llvm::StringRef name);

} // namespace gc

#endif
