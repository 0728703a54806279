#include "runtime/trainer/PlanInputs.h"

#include "runtime/plan/ElementType.h"
#include "runtime/plan/Metrics.h"

#include <fmt/format.h>

namespace gc::runtime {

static const plan::Buffer *slotBuffer(const plan::Plan &plan, const plan::Input &input,
                                      size_t slot) {
  uint32_t index = input.slots()->Get(static_cast<flatbuffers::uoffset_t>(slot));
  return plan.buffers() && index < plan.buffers()->size() ? plan.buffers()->Get(index) : nullptr;
}

/// Elements of a shape; 0 where it is impossible.
static int64_t elementsOf(const plan::Buffer &buffer) {
  int64_t elements = 1;
  for (size_t i = 0; buffer.shape() && i < buffer.shape()->size(); ++i)
    if (buffer.shape()->Get(i) < 1 ||
        __builtin_mul_overflow(elements, buffer.shape()->Get(i), &elements))
      return 0;
  return elements;
}

Result<PlanInputs> findPlanInputs(const plan::Plan &plan) {
  auto bad = [](const std::string &what) {
    return badInput(fmt::format("the plan cannot be trained: {}; compile it again", what));
  };
  PlanInputs result;
  const plan::Input *image = nullptr, *label = nullptr, *mixedLabel = nullptr, *share = nullptr;
  for (size_t i = 0; plan.inputs() && i < plan.inputs()->size(); ++i) {
    const plan::Input *input = plan.inputs()->Get(i);
    switch (input->role()) {
    case plan::InputRole_Image:
      image = input;
      result.image = i;
      break;
    case plan::InputRole_Label:
      label = input;
      result.label = i;
      break;
    case plan::InputRole_MixedLabel:
      mixedLabel = input;
      result.mixedLabel = i;
      break;
    case plan::InputRole_Share:
      share = input;
      result.share = i;
      break;
    default:
      return bad(
          fmt::format("it has an input '{}', expected 'image' and 'label'", input->name()->str()));
    }
  }
  if (!image || !label || !image->slots() || !label->slots() || image->slots()->size() == 0 ||
      image->slots()->size() != label->slots()->size())
    return bad("it lacks an input 'image' or 'label', or their slots differ in number");
  if (!mixedLabel != !share)
    return bad("it has a mixed label without a share, or the other way round");
  for (const plan::Input *input : {mixedLabel, share})
    if (input && (!input->slots() || input->slots()->size() != image->slots()->size()))
      return bad("the slots of its inputs differ in number");
  if (plan.batch() < 1 || plan.micro_batches() < 1 || plan.batch() % plan.micro_batches() != 0)
    return bad(fmt::format("it has a batch of {} in {} micro-batches", plan.batch(),
                           plan.micro_batches()));
  if (!findMetric(plan, kLossMetric))
    return bad("it has no loss");
  result.slots = image->slots()->size();
  result.microBatch = plan.batch() / plan.micro_batches();
  for (size_t slot = 0; slot < result.slots; ++slot) {
    const plan::Buffer *pixels = slotBuffer(plan, *image, slot);
    const plan::Buffer *labels = slotBuffer(plan, *label, slot);
    if (!pixels || !labels)
      return bad("an input's slot is not among its buffers");
    int64_t elements = elementsOf(*pixels);
    bool isTokens = pixels->dtype() == plan::DType_I32;
    if ((!isTokens && pixels->dtype() != plan::DType_F32) || elements < 1 ||
        pixels->shape()->Get(0) != result.microBatch ||
        static_cast<uint64_t>(elements) > pixels->bytes() / elementBytes(pixels->dtype()))
      return bad(
          fmt::format("a slot of 'image' is not f32 or i32 with {} samples", result.microBatch));
    bool wide = labels->dtype() == plan::DType_I64;
    int64_t labelCount = elementsOf(*labels);
    if ((!wide && labels->dtype() != plan::DType_I32) || labelCount < 1 ||
        labels->shape()->size() < 1 || labels->shape()->Get(0) != result.microBatch ||
        labels->bytes() / elementBytes(labels->dtype()) < static_cast<uint64_t>(labelCount))
      return bad(fmt::format("a slot of 'label' is not integers of {} samples", result.microBatch));
    if (mixedLabel) {
      const plan::Buffer *mixed = slotBuffer(plan, *mixedLabel, slot);
      const plan::Buffer *number = slotBuffer(plan, *share, slot);
      if (!mixed || !number)
        return bad("an input's slot is not among its buffers");
      if (mixed->dtype() != labels->dtype() || elementsOf(*mixed) != labelCount ||
          labelCount != result.microBatch || mixed->bytes() < labels->bytes())
        return bad("a slot of the mixed label is not like one of 'label'");
      if (number->dtype() != plan::DType_F32 || elementsOf(*number) != 1 ||
          number->bytes() < elementBytes(number->dtype()))
        return bad("a slot of the share is not one f32");
    }
    std::vector<int64_t> shape(pixels->shape()->begin() + 1, pixels->shape()->end());
    LabelType type = wide ? LabelType::I64 : LabelType::I32;
    std::vector<int64_t> labelShape(labels->shape()->begin() + 1, labels->shape()->end());
    if (slot > 0 && (shape != result.model.sampleShape || type != result.labelType ||
                     labelShape != result.model.labelShape || isTokens != result.model.isTokens))
      return bad("the slots of an input differ");
    result.model.sampleShape = std::move(shape);
    result.model.labelShape = std::move(labelShape);
    result.model.isTokens = isTokens;
    result.labelType = type;
  }
  result.model.classes = plan.classes();
  return result;
}

} // namespace gc::runtime
