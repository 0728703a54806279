//===- MixLabels.cpp - a loss of two labels -------------------------------===//
//
// Before:
//   func.func @model(%x, %label: tensor<8xi32> {gc.input = "label"}) {
//     %loss, %lse = gc.cross_entropy %logits, %label
// After:
//   func.func @model(%x, %label: tensor<8xi32> {gc.input = "label"},
//                    %mixed: tensor<8xi32> {gc.input = "mixed_label"},
//                    %share: tensor<f32> {gc.input = "share"}) {
//     %own, %lse = gc.cross_entropy %logits, %label
//     %other, %lse2 = gc.cross_entropy %logits, %mixed
//     %a = gc.mul %share, %own
//     %b = gc.mul %share, %other
//     %rest = gc.sub %other, %b
//     %loss = gc.add %a, %rest
//
// With a share of 1 the rest is 0 and so is its gradient: the bits are those of the loss before.
//
//===----------------------------------------------------------------------===//
#include "passes/MixLabels.h"
#include "dialects/Gc.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_MIXLABELSPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

/// The argument with this name, null where there is none.
BlockArgument findInput(func::FuncOp function, StringRef name) {
  for (BlockArgument argument : function.getArguments()) {
    auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kInputAttr);
    if (given && given.getValue() == name)
      return argument;
  }
  return {};
}

LogicalResult addInput(func::FuncOp function, StringRef name, Type type, Location loc) {
  if (BlockArgument taken = findInput(function, name))
    return emitError(taken.getLoc())
           << "the model has an input '" << name << "', a name that mixed labels need; rename it";
  Builder builder(function.getContext());
  return function.insertArgument(
      function.getNumArguments(), type,
      builder.getDictionaryAttr(builder.getNamedAttr(kInputAttr, builder.getStringAttr(name))),
      loc);
}

/// share * loss + (loss of `mixed` - share * loss of `mixed`)
void mix(CrossEntropyOp own, Value mixed, Value share) {
  OpBuilder builder(own.getContext());
  builder.setInsertionPointAfter(own);
  Location loc = own.getLoc();
  auto other = cast<CrossEntropyOp>(builder.clone(*own));
  other.getLabelsMutable().assign(mixed);
  Value ofOwn = MulOp::create(builder, loc, share.getType(), share, own.getLoss());
  Value ofOther = MulOp::create(builder, loc, share.getType(), share, other.getLoss());
  Value rest = SubOp::create(builder, loc, share.getType(), other.getLoss(), ofOther);
  Value loss = AddOp::create(builder, loc, share.getType(), ofOwn, rest);
  own.getLoss().replaceAllUsesExcept(loss, ofOwn.getDefiningOp());
}

struct MixLabelsPass : impl::MixLabelsPassBase<MixLabelsPass> {
  void runOnOperation() override {
    if (failed(mixLabels(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult mixLabels(ModuleOp module) {
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model))
    return failure();
  BlockArgument label = findInput(*model, kLabelInput);
  if (!label)
    return model->emitOpError("has no input '") << kLabelInput << "', so no labels can be mixed";
  if (cast<ShapedType>(label.getType()).getRank() != 1)
    return model->emitOpError("takes labels of type ")
           << label.getType() << ", and only one label a sample is mixed";
  SmallVector<CrossEntropyOp> losses;
  for (Operation *user : label.getUsers()) {
    if (auto loss = dyn_cast<CrossEntropyOp>(user))
      losses.push_back(loss);
    else if (!isa<AccuracyOp>(user)) // which counts the first label
      return user->emitOpError("takes labels, and nothing tells what it makes of mixed ones; only "
                               "gc.cross_entropy is mixed");
  }
  if (losses.empty())
    return model->emitOpError("has no gc.cross_entropy of the input '")
           << kLabelInput << "', so there is no loss of mixed labels";
  Type share = losses.front().getLoss().getType();
  if (failed(addInput(*model, kMixedLabelInput, label.getType(), label.getLoc())) ||
      failed(addInput(*model, kShareInput, share, label.getLoc())))
    return failure();
  for (CrossEntropyOp loss : losses)
    mix(loss, findInput(*model, kMixedLabelInput), findInput(*model, kShareInput));
  return success();
}

} // namespace gc
