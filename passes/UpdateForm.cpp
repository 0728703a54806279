//===- UpdateForm.cpp - the update op of each optimizer -------------------===//
#include "passes/UpdateForm.h"

using namespace mlir;

namespace gc {

UpdateForm updateFormOf(const OptimizerSettings &settings, OpBuilder &builder) {
  auto number = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF32FloatAttr(static_cast<float>(value)));
  };
  UpdateForm form;
  if (settings.name == "rmsprop") {
    form.op = RmspropOp::getOperationName();
    form.states = {{"square_average", ".square_avg"}};
    if (settings.centered)
      form.states.push_back({"gradient_average", ".grad_avg"});
    if (*settings.momentum != 0)
      form.states.push_back({"velocity", ".momentum_buffer"});
    form.numbers = {number("alpha", *settings.alpha), number("epsilon", *settings.epsilon),
                    number("momentum", *settings.momentum)};
    return form;
  }
  if (settings.name == "adafactor") {
    form.op = AdafactorOp::getOperationName();
    form.numbers = {number("epsilon", *settings.epsilon), number("epsilon2", *settings.epsilon2),
                    number("clip_update", *settings.clipUpdate)};
    form.ratio = AdafactorRatioOp::getOperationName();
    form.isFactored = true;
    form.mode = CoefficientsMode::Adafactor;
    form.beta2 = *settings.beta2Decay;
    return form;
  }
  if (settings.name == "lion") {
    form.op = LionOp::getOperationName();
    form.states = {{"first_moment", ".exp_avg"}};
    form.numbers = {number("beta1", *settings.beta1), number("beta2", *settings.beta2)};
    return form;
  }
  if (settings.name == "sgd") {
    form.op = SgdOp::getOperationName();
    if (*settings.momentum == 0)
      return form;
    form.states = {{"velocity", ".velocity"}};
    form.numbers = {number("momentum", *settings.momentum),
                    number("dampening", *settings.dampening),
                    builder.getNamedAttr("nesterov", builder.getBoolAttr(settings.nesterov))};
    form.mode = CoefficientsMode::Momentum;
    form.beta1 = *settings.momentum;
    form.beta2 = *settings.dampening;
    return form;
  }
  form.op = settings.name == "adam"    ? AdamOp::getOperationName()
            : settings.name == "adamw" ? AdamWOp::getOperationName()
                                       : LambOp::getOperationName();
  form.states = {{"first_moment", ".exp_avg"}, {"second_moment", ".exp_avg_sq"}};
  form.numbers = {number("beta1", *settings.beta1), number("beta2", *settings.beta2),
                  number("epsilon", *settings.epsilon)};
  form.mode = CoefficientsMode::Adam;
  if (settings.name == "lamb") {
    form.mode = CoefficientsMode::Corrected;
    form.ratio = LambRatioOp::getOperationName();
    form.ratioDecays = true;
  }
  form.beta1 = *settings.beta1;
  form.beta2 = *settings.beta2;
  return form;
}

} // namespace gc
