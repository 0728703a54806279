// A copy of some of a plan's buffers in host memory, from which a checkpoint is written while
// training goes on.
#ifndef GC_RUNTIME_WEIGHTS_BUFFERCOPY_H
#define GC_RUNTIME_WEIGHTS_BUFFERCOPY_H

#include "runtime/weights/BufferAccess.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

class BufferCopy final : public BufferAccess {
public:
  BufferCopy() = default; // of nothing
  /// Allocates and touches all of it at once. Fails (run failed) where there is not enough memory.
  static Result<BufferCopy> create(const plan::Plan &plan, const std::vector<uint32_t> &buffers);

  Status take(BufferAccess &source);
  uint64_t bytes() const { return size; }

  Result<std::byte *> map(uint32_t buffer) override;
  Status unmap(uint32_t, bool) override { return {}; }

private:
  struct Place {
    uint64_t offset, bytes;
  };
  std::unordered_map<uint32_t, Place> places;
  std::unique_ptr<std::byte[]> memory;
  uint64_t size = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_BUFFERCOPY_H
