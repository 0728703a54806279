#include "runtime/hal/Ranges.h"
#include "runtime/hal/Device.h"

namespace gc::runtime::hal {

Result<SlotMap> SlotMap::create(const gc::plan::Plan &plan, uint32_t slot) {
  SlotMap map;
  size_t buffers = plan.buffers() ? plan.buffers()->size() : 0;
  for (size_t i = 0; i < buffers; ++i)
    map.buffers_.push_back(static_cast<uint32_t>(i));
  for (size_t i = 0; plan.inputs() && i < plan.inputs()->size(); ++i) {
    const gc::plan::Input &input = *plan.inputs()->Get(i);
    if (slot >= input.slots()->size())
      return badInput("input '" + input.name()->str() + "' has " +
                      std::to_string(input.slots()->size()) + " slots; slot " +
                      std::to_string(slot) + " was asked for");
    map.buffers_[input.slots()->Get(0)] = input.slots()->Get(slot);
  }
  return map;
}

Status checkRange(const Arena &arena, size_t offset, size_t bytes) {
  if (offset <= arena.size() && bytes <= arena.size() - offset)
    return {};
  return badInput(std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                  " are not inside an arena of " + std::to_string(arena.size()));
}

} // namespace gc::runtime::hal
