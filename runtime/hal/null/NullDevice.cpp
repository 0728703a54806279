#include "runtime/hal/null/NullDevice.h"
#include "runtime/hal/Arena.h"

namespace gc::runtime::hal {
namespace {

/// Kernels are counted, not loaded: the plan may be for a machine that is not here.
class NullExecutable final : public Executable {
public:
  explicit NullExecutable(const gc::plan::Kernels *kernels) : kernels_(kernels) {}
  size_t kernelCount() const override {
    return kernels_ && kernels_->symbols() ? kernels_->symbols()->size() : 0;
  }

private:
  const gc::plan::Kernels *kernels_;
};

class NullEvent final : public Event {
public:
  Status wait() override { return {}; }
};

class NullCommandBuffer final : public CommandBuffer {
public:
  NullCommandBuffer(const Recording &recording, SlotMap slots)
      : recording_(recording), slots_(std::move(slots)) {}

  Status check() {
    size_t kernels = recording_.executable ? recording_.executable->kernelCount() : 0;
    for (size_t i = 0; i < size(); ++i) {
      const gc::plan::Command &c = command(i);
      const auto *dispatch = c.operation_as_Dispatch();
      const auto *launch = c.operation_as_Launch();
      if ((dispatch && dispatch->kernel() >= kernels) || (launch && launch->kernel() >= kernels))
        return badInput("command '" + c.name()->str() + "': kernel " +
                        std::to_string(dispatch ? dispatch->kernel() : launch->kernel()) +
                        " is not loaded");
    }
    return {};
  }

  Status bind(Arena &arena) override {
    if (arena.size() < recording_.plan->arena_bytes())
      return badInput("the arena has " + std::to_string(arena.size()) + " bytes, the plan needs " +
                      std::to_string(recording_.plan->arena_bytes()));
    bound_ = true;
    return {};
  }
  bool bound() const { return bound_; }

  size_t size() const override {
    return recording_.commands && recording_.commands->commands()
               ? recording_.commands->commands()->size()
               : 0;
  }
  std::string implementation(size_t) const override { return "null"; }

  std::string describe(size_t index) const override {
    const gc::plan::Command &c = command(index);
    std::string line =
        std::string(gc::plan::EnumNameOperation(c.operation_type())) + " " + c.name()->str() + ":";
    auto use = [&](const char *role, int64_t buffer) {
      if (buffer >= 0)
        line +=
            std::string(" ") + role + "=" +
            recording_.plan->buffers()->Get(slots_(static_cast<uint32_t>(buffer)))->name()->str();
    };
    if (const auto *d = c.operation_as_Dispatch()) {
      line += " " + recording_.plan->kernels()->symbols()->Get(d->kernel())->str();
      for (uint32_t i = 0; d->buffers() && i < d->buffers()->size(); ++i)
        use("buffer", d->buffers()->Get(i));
    } else if (const auto *l = c.operation_as_Launch()) {
      line += " " + recording_.plan->kernels()->symbols()->Get(l->kernel())->str();
      line += " grid=" + extent(*l->grid()) + " block=" + extent(*l->block());
      for (uint32_t i = 0; l->buffers() && i < l->buffers()->size(); ++i)
        use("buffer", l->buffers()->Get(i));
    } else if (const auto *g = c.operation_as_GraphCall()) {
      line += " " + recording_.plan->graphs()->Get(g->graph())->name()->str();
      for (uint32_t i = 0; g->buffers() && i < g->buffers()->size(); ++i)
        use("buffer", g->buffers()->Get(i)->buffer());
      use("workspace", g->workspace());
    } else if (const auto *v = c.operation_as_Convolution()) {
      use("src", v->src());
      use("weights", v->weights());
      use("dst", v->dst());
      use("bias", v->bias());
      use("residual", v->residual());
    } else if (const auto *m = c.operation_as_MatMul()) {
      use("a", m->a()->buffer());
      use("b", m->b()->buffer());
      use("c", m->c()->buffer());
      use("bias", m->bias());
      use("residual", m->residual());
    } else if (const auto *f = c.operation_as_Fill()) {
      use("buffer", f->buffer());
    } else if (const auto *p = c.operation_as_Copy()) {
      use("source", p->source()->buffer());
      use("target", p->target()->buffer());
    }
    return line;
  }

private:
  static std::string extent(const gc::plan::Extent &e) {
    return std::to_string(e.x()) + "x" + std::to_string(e.y()) + "x" + std::to_string(e.z());
  }
  const gc::plan::Command &command(size_t i) const {
    return *recording_.commands->commands()->Get(static_cast<uint32_t>(i));
  }
  Recording recording_;
  SlotMap slots_;
  bool bound_ = false;
};

class NullDevice final : public Device {
public:
  std::string name() const override { return "null"; }
  bool executes() const override { return false; }
  int threads() const override { return 1; }

  Result<std::unique_ptr<Executable>> load(const gc::plan::Plan &plan) override {
    return std::unique_ptr<Executable>(std::make_unique<NullExecutable>(plan.kernels()));
  }
  Result<std::unique_ptr<CommandBuffer>> record(const Recording &recording) override {
    auto slots = SlotMap::create(*recording.plan, recording.slot);
    if (!slots)
      return slots.error();
    auto buffer = std::make_unique<NullCommandBuffer>(recording, std::move(*slots));
    if (Status sound = buffer->check(); !sound)
      return sound.error();
    return std::unique_ptr<CommandBuffer>(std::move(buffer));
  }
  /// Reserved but not touched: the null device costs no memory.
  Result<std::unique_ptr<Arena>> createArena(const gc::plan::Plan &plan) override {
    auto arena = HostArena::create(plan.arena_bytes(), 0, 0, /*touch=*/false);
    if (!arena)
      return arena.error();
    return std::unique_ptr<Arena>(std::move(*arena));
  }
  Result<std::unique_ptr<Staging>> createStaging(size_t bytes) override {
    return std::unique_ptr<Staging>(std::make_unique<HostStaging>(bytes));
  }
  Result<std::unique_ptr<Event>> createEvent() override {
    return std::unique_ptr<Event>(std::make_unique<NullEvent>());
  }

  Status submit(CommandBuffer &buffer, Event &event, const Submission &submission) override {
    auto *mine = dynamic_cast<NullCommandBuffer *>(&buffer);
    if (!mine || !dynamic_cast<NullEvent *>(&event))
      return badInput("command buffer or event of another device");
    if (!mine->bound())
      return badInput("the command buffer is not bound to an arena");
    if (!submission.times.empty() && submission.times.size() != mine->size())
      return badInput("need a time for each of " + std::to_string(mine->size()) + " commands");
    for (CommandTime &time : submission.times)
      time = {};
    for (size_t i = 0; i < mine->size(); ++i)
      log.push_back(mine->describe(i));
    return {};
  }
  Status upload(Arena &arena, size_t offset, std::span<const std::byte> staged, Event *,
                Event &event) override {
    if (!dynamic_cast<NullEvent *>(&event))
      return badInput("event of another device");
    return checkRange(arena, offset, staged.size());
  }
  AllocationCounters allocations() const override { return {}; }
  Result<std::string> propertiesJson() override { return std::string("{\"device\": \"null\"}"); }

  std::vector<std::string> log;
};

} // namespace

Result<std::unique_ptr<Device>> createNullDevice(const DeviceOptions &) {
  return std::unique_ptr<Device>(std::make_unique<NullDevice>());
}

std::vector<std::string> submissions(const Device &device) {
  auto *null = dynamic_cast<const NullDevice *>(&device);
  return null ? null->log : std::vector<std::string>();
}

} // namespace gc::runtime::hal
