// What the driver's handles stand for.
#ifndef GC_TEST_EMULATOR_DRIVER_OBJECTS_H
#define GC_TEST_EMULATOR_DRIVER_OBJECTS_H

#include "test/emulator/driver/DeviceMemory.h"
#include "test/emulator/driver/Queue.h"
#include "test/emulator/ptx/Ptx.h"

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gc::emulator {

// A device and its primary context.
struct Device {
  Device(int ordinal, std::function<std::string(Epoch)> nameOf)
      : ordinal(ordinal),
        memory(0xd000'0000'0000 + uint64_t(ordinal) * 0x100'0000'0000, std::move(nameOf)) {}

  int ordinal;
  DeviceMemory memory;
  // How often the primary context was retained; it lives while this is not zero.
  unsigned retained = 0;
  // Kernels take memory too.
  uint64_t moduleBytes = 0;
  // What other processes hold.
  uint64_t ofOthers = 0;

  // What others, the context, the kernels and the allocations take, with one more allocation of
  // `bytes`.
  uint64_t used(uint64_t bytes = 0) const;
};

// Of a context, and how it came to be ("cuStreamCreate call 2").
struct Object {
  Device *device = nullptr;
  std::string origin;
};

struct Graph : Object {
  struct Node {
    std::shared_ptr<const Work> work;
    std::vector<size_t> after;
    // Which of the captured streams it came from.
    uint32_t lane;
  };
  std::vector<Node> nodes;
  uint32_t lanes = 0;
};

struct Stream;

// A sequence of captured calls, from cuStreamBeginCapture to cuStreamEndCapture.
struct Capture {
  Stream *origin;
  CUstreamCaptureMode mode;
  std::thread::id thread;
  std::vector<Stream *> members;
  std::shared_ptr<Graph> graph;
  bool valid = true;
};

struct Stream : Object {
  uint32_t lane = 0;
  // While it captures: where to, its lane there, and the nodes that its next node comes after.
  std::shared_ptr<Capture> capture;
  uint32_t captureLane = 0;
  std::vector<size_t> tail;
};

struct Event : Object {
  bool timed = true;
  std::shared_ptr<Operation> recorded;
  // Last recorded in this capture, after these nodes.
  std::shared_ptr<Capture> capture;
  std::vector<size_t> tail;
};

struct GraphExec : Object {
  std::vector<Graph::Node> nodes;
  // Of the queue, one for each lane of the graph.
  std::vector<uint32_t> lanes;
  // A graph does not run beside itself.
  std::shared_ptr<Operation> last;
};

struct Module : Object {
  std::unique_ptr<ptx::Module> program;
  std::vector<uint64_t> variables;
  uint64_t bytes = 0;
  // Whether `bytes` are taken off the device: lazily, when a kernel of it first runs.
  bool charged = false;
  // Work that was queued before keeps the module alive, but may not run any more.
  bool loaded = true;
};

struct Function : Object {
  std::shared_ptr<Module> module;
  const ptx::KernelInfo *kernel = nullptr;
  int maximumDynamicShared = 48 * 1024;
};

// Host memory that the driver gave out.
struct Pinned : Object {
  std::unique_ptr<std::byte[]> bytes;
  size_t size = 0;
};

// Handles are numbers that are never given out twice, so that a stale one is always noticed.
inline uintptr_t newHandle() {
  static uintptr_t last = 0x1000;
  return last += 0x10;
}

template <class Handle, class Value> class Table {
public:
  Handle add(std::shared_ptr<Value> value) {
    uintptr_t handle = newHandle();
    values.emplace(handle, std::move(value));
    return reinterpret_cast<Handle>(handle);
  }
  // Null for a handle that is not, or no longer, of this kind.
  std::shared_ptr<Value> find(Handle handle) const {
    auto found = values.find(reinterpret_cast<uintptr_t>(handle));
    return found == values.end() ? nullptr : found->second;
  }
  std::shared_ptr<Value> remove(Handle handle) {
    auto value = find(handle);
    values.erase(reinterpret_cast<uintptr_t>(handle));
    return value;
  }
  const std::map<uintptr_t, std::shared_ptr<Value>> &all() const { return values; }
  template <class Predicate> void removeIf(Predicate predicate) {
    std::erase_if(values, [&](const auto &entry) { return predicate(*entry.second); });
  }

private:
  std::map<uintptr_t, std::shared_ptr<Value>> values;
};

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_OBJECTS_H
