// Which ranges of the arena commands and copies mean: what plugins share with the devices built in.
#ifndef GC_RUNTIME_HAL_RANGES_H
#define GC_RUNTIME_HAL_RANGES_H

#include "runtime/plan/PlanFile.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gc::runtime::hal {

class Arena;

/// The buffer that command operand `buffer` means when recording for `slot`.
class SlotMap {
public:
  /// Fails when an input has no such slot.
  static Result<SlotMap> create(const gc::plan::Plan &plan, uint32_t slot);
  uint32_t operator()(uint32_t buffer) const { return buffers_[buffer]; }

private:
  std::vector<uint32_t> buffers_;
};

/// BadInput unless [offset, offset + bytes) is inside the arena.
Status checkRange(const Arena &arena, size_t offset, size_t bytes);

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_RANGES_H
