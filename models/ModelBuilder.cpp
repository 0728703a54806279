//===- ModelBuilder.cpp - the module, its variables and its outputs -------===//
#include "models/ModelBuilder.h"
#include "mlir/IR/Verifier.h"
#include "models/CheckSizes.h"

using namespace mlir;

namespace gc::models {

static MLIRContext &withDialects(MLIRContext &context) {
  context.loadDialect<GcDialect, func::FuncDialect>();
  return context;
}

int64_t dimension(Value tensor, unsigned axis) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
}

int64_t channels(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape().back();
}

ModelBuilder::ModelBuilder(MLIRContext &context, StringRef name, int64_t classes,
                           ArrayRef<int64_t> imageShape)
    : module(ModuleOp::create(UnknownLoc::get(&withDialects(context)), name)), builder(&context),
      variables(&context) {
  module.get()->setAttr("gc.classes", builder.getI64IntegerAttr(classes));
  builder.setInsertionPointToStart(module->getBody());

  Type f32 = builder.getF32Type(), scalar = RankedTensorType::get({}, f32);
  Type imageType = RankedTensorType::get(imageShape, f32);
  Type labelType = RankedTensorType::get({imageShape.front()}, builder.getI32Type());
  function =
      func::FuncOp::create(builder, location("model"), "model",
                           builder.getFunctionType({imageType, labelType}, {scalar, scalar}));
  function.setArgAttr(0, "gc.input", builder.getStringAttr("image"));
  function.setArgAttr(1, "gc.input", builder.getStringAttr("label"));
  function.setResultAttr(0, "gc.output", builder.getStringAttr("loss"));
  function.setResultAttr(1, "gc.output", builder.getStringAttr("correct"));

  Block *body = builder.createBlock(&function.getBody(), {}, {imageType, labelType},
                                    {location("image"), location("label")});
  image = body->getArgument(0);
  label = body->getArgument(1);
  variables.setInsertionPoint(function);
}

Location ModelBuilder::location(StringRef name) {
  return NameLoc::get(builder.getStringAttr(name));
}

Value ModelBuilder::read(StringRef name, Type type) {
  return create<ReadOp>(name, type, FlatSymbolRefAttr::get(builder.getContext(), name));
}

Value ModelBuilder::parameter(StringRef name, ArrayRef<int64_t> shape, const Initializer &init,
                              const FileLayout *layout) {
  auto array = [&](ArrayRef<int64_t> values) {
    return layout ? builder.getDenseI64ArrayAttr(values) : DenseI64ArrayAttr();
  };
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  ParameterOp::create(variables, location(name), builder.getStringAttr(name), TypeAttr::get(type),
                      init.attribute(builder.getContext()),
                      array(layout ? ArrayRef<int64_t>(layout->shape) : ArrayRef<int64_t>()),
                      array(layout ? ArrayRef<int64_t>(layout->split) : ArrayRef<int64_t>()),
                      array(layout ? ArrayRef<int64_t>(layout->permutation) : ArrayRef<int64_t>()));
  return read(name, type);
}

void ModelBuilder::state(const std::string &name, StateRole role, RankedTensorType type,
                         const Initializer &init) {
  StateOp::create(variables, location(name), builder.getStringAttr(name),
                  StateRoleAttr::get(builder.getContext(), role), TypeAttr::get(type),
                  init.attribute(builder.getContext()));
}

// Each size that the user gave is possible; a tensor of several of them may still be too large.
static llvm::Error checkTensors(func::FuncOp function) {
  Type large;
  auto look = [&](Type type) {
    if (!isWithinLimits(type))
      large = type;
  };
  llvm::for_each(function.getArgumentTypes(), look);
  for (Operation &op : function.getBody().front())
    llvm::for_each(op.getResultTypes(), look);
  if (!large)
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream(text) << large;
  return badSize("these sizes make a tensor of more than " + llvm::Twine(kLargestBytes) +
                 " bytes (" + text + "): use a smaller batch or image");
}

Network ModelBuilder::finish(Value logits) {
  auto loss = create<CrossEntropyOp>("loss", logits, label, number(0));
  auto correct = create<AccuracyOp>("correct", logits, label);
  create<func::ReturnOp>("model", ValueRange{loss.getLoss(), correct.getCorrect()});
  if (llvm::Error large = checkTensors(function))
    return large;
  // A failure here is a fault of the builder, and the diagnostic handler has said which op it is.
  if (failed(verify(*module)))
    return llvm::createStringError("the generated network does not verify; this is a bug in gc");
  return std::move(module);
}

} // namespace gc::models
