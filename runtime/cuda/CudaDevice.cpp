// The plugin's device: what the registry makes of `--device=cuda[:N]`.
#include "runtime/cuda/CudaCommandBuffer.h"
#include "runtime/cuda/DeviceProperties.h"
#include "runtime/hal/Arena.h"

#include <algorithm>

namespace gc::runtime::cuda {
namespace {

class CudaDevice final : public hal::Device {
public:
  static Result<std::unique_ptr<CudaDevice>> create(int ordinal) {
    auto context = Context::create(ordinal);
    if (!context)
      return context.error();
    std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(*context)));
    auto memory = device->context_->memory();
    if (!memory)
      return memory.error();
    device->memory_.total = memory->total;
    device->memory_.usedWithContext = device->memory_.used = memory->used();
    if (std::optional<uint64_t> bytes = device->context_->contextBytes())
      device->memory_.context = std::min<uint64_t>(*bytes, memory->used());
    return device;
  }

  std::string name() const override { return "cuda:" + std::to_string(context_->ordinal()); }
  bool executes() const override { return true; }
  /// The host's share of the work is one thread.
  int threads() const override { return 1; }
  std::string uuid() const override { return context_->watched().uuid; }
  std::string pciBusId() const override { return context_->watched().pciBusId; }

  Result<std::unique_ptr<hal::Executable>> load(const gc::plan::Plan &plan) override {
    auto modules = KernelModules::load(*context_, plan);
    if (!modules)
      return modules.error();
    return std::unique_ptr<hal::Executable>(std::move(*modules));
  }

  Result<std::unique_ptr<hal::CommandBuffer>> record(const hal::Recording &recording) override {
    if (Status entered = context_->enter(); !entered)
      return entered.error();
    auto buffer = CudaCommandBuffer::record(*context_, recording);
    if (!buffer)
      return buffer.error();
    return std::unique_ptr<hal::CommandBuffer>(std::move(*buffer));
  }

  Result<std::unique_ptr<hal::Arena>> createArena(const gc::plan::Plan &plan) override {
    if (Status entered = context_->enter(); !entered)
      return entered.error();
    auto before = context_->memory();
    if (!before)
      return before.error();
    auto arena = CudaArena::create(*context_, plan.arena_bytes());
    if (!arena)
      return arena.error();
    memory_.libraries =
        before->used() > memory_.usedWithContext ? before->used() - memory_.usedWithContext : 0;
    memory_.arena = (*arena)->residentBytes();
    return std::unique_ptr<hal::Arena>(std::move(*arena));
  }

  Result<std::unique_ptr<hal::Staging>> createStaging(size_t bytes) override {
    auto staging = CudaStaging::create(*context_, bytes);
    if (!staging)
      return staging.error();
    memory_.staging += bytes;
    return std::unique_ptr<hal::Staging>(std::move(*staging));
  }

  Result<std::unique_ptr<hal::Event>> createEvent() override {
    auto event = CudaEvent::create(*context_);
    if (!event)
      return event.error();
    return std::unique_ptr<hal::Event>(std::move(*event));
  }

  Status submit(hal::CommandBuffer &buffer, hal::Event &event,
                const hal::Submission &submission) override {
    auto *mine = dynamic_cast<CudaCommandBuffer *>(&buffer);
    auto *done = dynamic_cast<CudaEvent *>(&event);
    auto *after = dynamic_cast<CudaEvent *>(submission.after);
    if (!mine || !done || (submission.after && !after))
      return badInput("command buffer or event of another device");
    if (!mine->bound())
      return badInput("the command buffer is not bound to an arena");
    if (!submission.times.empty() && submission.times.size() != mine->size())
      return badInput("need a time for each of " + std::to_string(mine->size()) + " commands");
    for (const hal::Readback &result : submission.results)
      if (Status inside = hal::checkRange(mine->arena(), result.offset, result.target.size());
          !inside)
        return inside;
    if (Status entered = context_->enter(); !entered)
      return entered;
    if (after)
      if (Status blocked = after->block(context_->compute()); !blocked)
        return blocked;
    Status started = submission.times.empty() ? mine->launch() : mine->launchEach(submission.times);
    if (started)
      started = readBack(*mine, submission.results);
    if (started)
      started = done->record(context_->compute(), mine->subject(), kProfileIt);
    if (!started)
      context_->drain(); // a part of the submission may be running already
    return started;
  }

  Status upload(hal::Arena &arena, size_t offset, std::span<const std::byte> staged,
                hal::Event *after, hal::Event &event) override {
    auto *mine = dynamic_cast<CudaArena *>(&arena);
    auto *done = dynamic_cast<CudaEvent *>(&event);
    auto *last = dynamic_cast<CudaEvent *>(after);
    if (!mine || !done || (after && !last))
      return badInput("arena or event of another device");
    if (Status inside = hal::checkRange(arena, offset, staged.size()); !inside)
      return inside;
    if (Status entered = context_->enter(); !entered)
      return entered;
    if (last)
      if (Status blocked = last->block(context_->copy()); !blocked)
        return blocked;
    if (!staged.empty())
      GC_CUDA(context_->driver(), cuMemcpyHtoDAsync, kUpload, mine->address(offset), staged.data(),
              staged.size(), context_->copy());
    return done->record(context_->copy(), kUpload);
  }

  /// Nothing of the driver is counted: a step asks it for no memory.
  hal::AllocationCounters allocations() const override { return {}; }

  std::optional<hal::DeviceMemory> memory() override {
    if (context_->enter())
      if (auto now = context_->memory())
        memory_.used = now->used();
    return memory_;
  }

  Result<std::string> propertiesJson() override { return cuda::propertiesJson(*context_); }

private:
  explicit CudaDevice(std::unique_ptr<Context> context) : context_(std::move(context)) {}

  Status readBack(const CudaCommandBuffer &buffer, std::span<const hal::Readback> results) {
    for (const hal::Readback &result : results)
      GC_CUDA(context_->driver(), cuMemcpyDtoHAsync, "the results of " + buffer.subject(),
              result.target.data(), buffer.arena().address(result.offset), result.target.size(),
              context_->compute());
    return {};
  }

  inline static const std::string kUpload = "an upload of input";
  static constexpr const char *kProfileIt =
      "; with --profile=FILE commands run one by one, and the error names the one that failed";
  std::unique_ptr<Context> context_;
  hal::DeviceMemory memory_;
};

} // namespace
} // namespace gc::runtime::cuda

extern "C" gc::runtime::hal::Device *gcCreateDevice(const gc::runtime::hal::DeviceOptions *options,
                                                    gc::runtime::Error *error) {
  auto device = gc::runtime::cuda::CudaDevice::create(options->ordinal);
  if (device)
    return device->release();
  *error = device.error();
  return nullptr;
}
