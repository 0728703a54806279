// How weights reach a plan's buffers, wherever those are.
#ifndef GC_RUNTIME_WEIGHTS_BUFFERACCESS_H
#define GC_RUNTIME_WEIGHTS_BUFFERACCESS_H

#include "runtime/Error.h"

#include <cstddef>
#include <cstdint>

namespace gc::runtime {

class BufferAccess {
public:
  virtual ~BufferAccess() = default;

  /// The buffer's bytes at a host address, valid until unmap. A device in host memory hands out the
  /// arena itself; others a copy. The caller checks sizes against the plan.
  virtual Result<std::byte *> map(uint32_t buffer) = 0;
  /// Ends a mapping; `written` says that the bytes must reach the device.
  virtual Status unmap(uint32_t buffer, bool written) = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_BUFFERACCESS_H
