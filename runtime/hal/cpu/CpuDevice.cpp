#include "runtime/hal/cpu/CpuDevice.h"
#include "runtime/hal/allocation/Allocation.h"
#include "runtime/hal/cpu/CpuCommandBuffer.h"
#include "runtime/hal/cpu/library/Team.h"

#include <cstring>

namespace gc::runtime::hal {
namespace {

/// Instruction sets that generated code may need and that can be asked of the machine.
bool cpuHas(const std::string &feature, bool &known) {
  known = true;
#define GC_FEATURE(name)                                                                           \
  if (feature == name)                                                                             \
    return __builtin_cpu_supports(name);
  GC_FEATURE("avx")
  GC_FEATURE("avx2")
  GC_FEATURE("fma")
  GC_FEATURE("bmi2")
  GC_FEATURE("avx512f")
  GC_FEATURE("avx512bw")
  GC_FEATURE("avx512cd")
  GC_FEATURE("avx512dq")
  GC_FEATURE("avx512vl")
  GC_FEATURE("avx512ifma")
  GC_FEATURE("avx512vbmi")
  GC_FEATURE("avx512vbmi2")
  GC_FEATURE("avx512vnni")
  GC_FEATURE("avx512bitalg")
  GC_FEATURE("avx512vpopcntdq")
  GC_FEATURE("avx512bf16")
#undef GC_FEATURE
  known = false;
  return true;
}

Status checkTarget(const gc::plan::Target &target) {
  if (target.device()->string_view() != "cpu")
    return deviceError("the plan was compiled for device '" + target.device()->str() +
                       "', not for cpu; compile it with --device=cpu");
  if (target.library_version() && target.library_version()->size() &&
      target.library_version()->str() != cpu::libraryVersion())
    return deviceError("the plan was compiled for " + target.library_version()->str() +
                       ", this machine has " + cpu::libraryVersion() + "; compile it again");
  for (uint32_t i = 0; target.features() && i < target.features()->size(); ++i) {
    std::string feature = target.features()->Get(i)->str();
    if (!feature.empty() && feature[0] == '-')
      continue;
    if (!feature.empty() && feature[0] == '+')
      feature.erase(0, 1);
    bool known;
    if (!cpuHas(feature, known))
      return deviceError("the plan needs a CPU with " + feature +
                         ", this one has not; compile it again on this machine");
  }
  return {};
}

struct Pool {
  size_t offset = 0, bytes = 0;
};

/// The range that answers oneDNN's requests for memory; no bytes where the plan has none.
Pool transientPool(const gc::plan::Plan &plan) {
  if (plan.transients() < 0)
    return {};
  const gc::plan::Buffer &pool = *plan.buffers()->Get(static_cast<uint32_t>(plan.transients()));
  return {pool.offset(), pool.bytes()};
}

/// Work is done when submit returns; the event carries the outcome.
class CpuEvent final : public Event {
public:
  Status wait() override { return outcome; }
  Status outcome;
};

class CpuDevice final : public Device {
public:
  /// The team has been started, so that no step has to create threads.
  explicit CpuDevice(int threads) : threads_(threads) {
#pragma omp parallel num_threads(threads_)
    allocation::markExecutingThread();
    before_ = allocation::counters();
  }

  std::string name() const override { return "cpu"; }
  bool executes() const override { return true; }
  int threads() const override { return threads_; }

  Result<std::unique_ptr<Executable>> load(const gc::plan::Plan &plan) override {
    if (Status suits = checkTarget(*plan.target()); !suits)
      return suits.error();
    auto object = SharedObject::load(plan.kernels());
    if (!object)
      return object.error();
    return std::unique_ptr<Executable>(std::move(*object));
  }

  Result<std::unique_ptr<CommandBuffer>> record(const Recording &recording) override {
    if (Status suits = checkTarget(*recording.plan->target()); !suits)
      return suits.error();
    cpu::requestTeam(threads_); // primitives are built for the threads that OpenMP would use
    auto buffer = CpuCommandBuffer::record(recording, calls_);
    if (!buffer)
      return buffer.error();
    return std::unique_ptr<CommandBuffer>(std::move(*buffer));
  }

  Result<std::unique_ptr<Arena>> createArena(const gc::plan::Plan &plan) override {
    Pool pool = transientPool(plan);
    cpu::requestTeam(threads_);
    auto arena = HostArena::create(plan.arena_bytes(), pool.offset, pool.bytes, /*touch=*/true);
    if (!arena)
      return arena.error();
    return std::unique_ptr<Arena>(std::move(*arena));
  }

  Result<std::unique_ptr<Staging>> createStaging(size_t bytes) override {
    return std::unique_ptr<Staging>(std::make_unique<HostStaging>(bytes));
  }
  Result<std::unique_ptr<Event>> createEvent() override {
    return std::unique_ptr<Event>(std::make_unique<CpuEvent>());
  }

  Status submit(CommandBuffer &buffer, Event &event, const Submission &submission) override {
    auto *mine = dynamic_cast<CpuCommandBuffer *>(&buffer);
    auto *done = dynamic_cast<CpuEvent *>(&event);
    if (!mine || !done)
      return badInput("command buffer or event of another device");
    if (!mine->bound())
      return badInput("the command buffer is not bound to an arena");
    if (!submission.times.empty() && submission.times.size() != mine->size())
      return badInput("need a time for each of " + std::to_string(mine->size()) + " commands");
    cpu::requestTeam(threads_);
    done->outcome = mine->execute(threads_, submission.times);
    for (const Readback &result : submission.results)
      if (done->outcome)
        done->outcome = mine->arena().read(result.offset, result.target);
    return {};
  }

  Status upload(Arena &arena, size_t offset, std::span<const std::byte> staged, Event *,
                Event &event) override {
    auto *done = dynamic_cast<CpuEvent *>(&event);
    if (!done)
      return badInput("event of another device");
    done->outcome = arena.write(offset, staged);
    return {};
  }

  AllocationCounters allocations() const override {
    allocation::Counters now = allocation::counters();
    return {now.heap - before_.heap, now.pool - before_.pool};
  }
  Result<std::string> propertiesJson() override {
    return "{\"device\": \"cpu\", \"threads\": " + std::to_string(threads_) + ", \"library\": \"" +
           cpu::libraryVersion() + "\"}";
  }

private:
  int threads_;
  allocation::Counters before_;
  CallCache calls_;
};

} // namespace

Result<std::unique_ptr<Device>> createCpuDevice(const DeviceOptions &options) {
  int threads = options.threads ? options.threads : cpu::usableThreads();
  if (Status started = cpu::startTeam(threads); !started)
    return started.error();
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>(threads));
}

} // namespace gc::runtime::hal
