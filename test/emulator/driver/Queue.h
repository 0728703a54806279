// Asynchronous work. Operations wait in lanes and run only when somebody waits for them, in an
// order that respects nothing but the lanes and what each operation is said to come after;
// Settings::order picks where there is a choice. So a host or a stream that forgot to wait sees the
// wrong data.
#ifndef GC_TEST_EMULATOR_DRIVER_QUEUE_H
#define GC_TEST_EMULATOR_DRIVER_QUEUE_H

#include "test/emulator/driver/Moment.h"
#include "test/emulator/driver/Settings.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gc::emulator {

// A range of pinned memory; empty by default.
struct HostRange {
  std::byte *start = nullptr;
  size_t bytes = 0;
  // Expires when the memory is freed.
  std::weak_ptr<const void> owner = {};
  bool isFreed() const { return bytes && owner.expired(); }
  bool overlaps(const HostRange &other) const {
    return start < other.start + other.bytes && other.start < start + bytes;
  }
};

// What an operation does. Immutable, so that a graph can do it again.
struct Work {
  std::string name;
  // Throws ptx::Fault.
  std::function<void(const Moment &)> run = {};
  // Emulated duration.
  uint64_t nanoseconds = 0;
  // What it reads and writes of the host when it runs.
  HostRange reads = {}, writes = {};
};

struct Operation {
  std::shared_ptr<const Work> work;
  // In other lanes; those before it in its own lane are understood.
  std::vector<std::shared_ptr<Operation>> after;
  Moment moment;
  uint64_t number = 0;
  // A digest of what it is to read of the host's memory, taken when it was queued.
  std::optional<size_t> expected;
  bool done = false;
  // On the emulated clock, in nanoseconds.
  uint64_t finished = 0;
};

class Queue {
public:
  explicit Queue(const Settings &settings) : order(settings.order), random(settings.seed) {}

  // A lane of its own for a stream or a part of a graph. Throws std::bad_alloc when there are too
  // many.
  uint32_t openLane();
  // What waits in it still runs.
  void closeLane(uint32_t lane);

  std::shared_ptr<Operation> add(uint32_t lane, std::shared_ptr<const Work> work,
                                 std::vector<std::shared_ptr<Operation>> after = {});
  // The last operation of a lane, null if there was none.
  std::shared_ptr<Operation> last(uint32_t lane) const { return lanes[lane].last; }

  // Run at least what is waited for. The first fault ends everything: what waits is dropped, and
  // the result says what the driver answers from then on.
  CUresult waitFor(const std::shared_ptr<Operation> &operation);
  CUresult waitForAll();
  void drop();

  std::string nameOf(Epoch epoch) const;

private:
  struct Lane {
    std::deque<std::shared_ptr<Operation>> waiting;
    std::shared_ptr<Operation> last;
    std::vector<std::shared_ptr<const Work>> history;
    bool open = true;
  };

  std::shared_ptr<Operation> takeNext();
  CUresult run(Operation &operation);
  void forgetExpectations(const HostRange &written);

  Order order;
  std::mt19937_64 random;
  std::vector<Lane> lanes;
  // What the host has waited for.
  Clock host;
  uint64_t added = 0;
  uint64_t now = 0;
};

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_QUEUE_H
