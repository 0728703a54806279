#include "runtime/trainer/StateRecord.h"

#include <fmt/format.h>

#include <cstring>

namespace gc::runtime {

template <class T> static T read(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

/// Floats with their bits: two that print alike may differ.
static std::string valueText(plan::DType dtype, const std::byte *at) {
  switch (dtype) {
  case plan::DType_F32:
    return fmt::format("{} (0x{:08x})", read<float>(at), read<uint32_t>(at));
  case plan::DType_I32:
    return fmt::format("{}", read<int32_t>(at));
  case plan::DType_I64:
    return fmt::format("{}", read<int64_t>(at));
  case plan::DType_U8:
    return fmt::format("{}", read<uint8_t>(at));
  case plan::DType_F16:
  case plan::DType_BF16:
    return fmt::format("0x{:04x}", read<uint16_t>(at));
  }
  return "?";
}

std::string differenceText(const Difference &d) {
  std::string text = fmt::format(
      "{} differs after step {}: element {} is {} without recomputation and {} with it; "
      "{} of {} elements differ",
      d.tensor, d.step, d.index, d.reference, d.tested, d.differing, d.elements);
  if (d.otherTensors > 0)
    text += fmt::format(", and so do {} other tensors", d.otherTensors);
  return text;
}

Result<std::optional<Difference>> compareBits(const TensorBits &reference,
                                              const TensorBits &tested) {
  if (reference.name != tested.name || reference.dtype != tested.dtype ||
      reference.bits.size() != tested.bits.size())
    return runFailed(fmt::format("the two plans cannot be compared: {} of {} bytes has {} of {} "
                                 "bytes for its counterpart",
                                 reference.name, reference.bits.size(), tested.name,
                                 tested.bits.size()));
  if (std::memcmp(reference.bits.data(), tested.bits.data(), reference.bits.size()) == 0)
    return std::optional<Difference>();
  Difference difference;
  difference.tensor = reference.name;
  size_t size = elementBytes(reference.dtype);
  difference.elements = reference.bits.size() / size;
  for (uint64_t i = 0; i < difference.elements; ++i) {
    const std::byte *one = &reference.bits[i * size], *other = &tested.bits[i * size];
    if (std::memcmp(one, other, size) == 0)
      continue;
    if (difference.differing++ > 0)
      continue;
    difference.index = i;
    difference.reference = valueText(reference.dtype, one);
    difference.tested = valueText(tested.dtype, other);
  }
  return std::optional(difference);
}

void StateRecord::add(const std::vector<TensorBits> &state) {
  if (tensors.empty()) {
    uint64_t offset = 0;
    for (const TensorBits &tensor : state) {
      tensors.push_back({tensor.name, tensor.dtype, {}});
      offsets.push_back(offset);
      offset += tensor.bits.size();
    }
    offsets.push_back(offset);
  }
  std::vector<std::byte> &copy = bits.emplace_back();
  copy.reserve(offsets.back());
  for (const TensorBits &tensor : state)
    copy.insert(copy.end(), tensor.bits.begin(), tensor.bits.end());
}

std::vector<TensorBits> StateRecord::state(uint64_t step) const {
  std::vector<TensorBits> all = tensors;
  for (size_t i = 0; i < all.size(); ++i)
    all[i].bits = std::span(bits[step - 1]).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  return all;
}

Result<std::optional<Difference>> StateRecord::compare(uint64_t step,
                                                       const std::vector<TensorBits> &state) const {
  if (step < 1 || step > bits.size() || state.size() != tensors.size())
    return runFailed(fmt::format("the two runs cannot be compared: step {} of {} has {} tensors, "
                                 "expected {}",
                                 step, bits.size(), state.size(), tensors.size()));
  std::optional<Difference> first;
  std::vector<TensorBits> recorded = this->state(step);
  for (size_t i = 0; i < state.size(); ++i) {
    Result<std::optional<Difference>> difference = compareBits(recorded[i], state[i]);
    if (!difference)
      return difference;
    if (!*difference)
      continue;
    if (first) {
      first->otherTensors += 1;
      continue;
    }
    first = std::move(*difference);
    first->step = step;
  }
  return first;
}

} // namespace gc::runtime
