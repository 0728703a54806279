#include "runtime/hal/cpu/CpuCommandBuffer.h"
#include "runtime/hal/allocation/Allocation.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <omp.h>

namespace gc::runtime::hal {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Splits [0, items) over the pool in ranges of at least `grain`, the same way every time. The
/// whole team is woken even for fewer ranges: libgomp would end the threads of a team that shrinks.
template <typename Body> void split(int threads, int64_t items, int64_t grain, Body body) {
  int64_t parts = std::clamp<int64_t>(items / std::max<int64_t>(grain, 1), 1, threads);
  if (parts == 1)
    return body(int64_t(0), items);
#pragma omp parallel num_threads(threads)
  {
    // Should OpenMP give a smaller team, its members take several parts.
    for (int64_t part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) {
      // (items / parts) * part, with the remainder spread over the first parts: no overflow.
      int64_t size = items / parts, extra = items % parts;
      int64_t begin = size * part + std::min(part, extra);
      body(begin, begin + size + (part < extra ? 1 : 0));
    }
  }
}

constexpr int64_t kBytesGrain = 64 * 1024;

} // namespace

Result<cpu::ConvolutionCall *> CallCache::convolution(const cpu::ConvolutionSpec &spec) {
  auto &call = convolutions_[cpu::specKey(spec)];
  if (!call) {
    auto created = cpu::ConvolutionCall::create(spec);
    if (!created)
      return created.error();
    call = std::move(*created);
    call->warmUp();
  }
  return call.get();
}

Result<cpu::MatMulCall *> CallCache::matmul(const cpu::MatMulSpec &spec) {
  auto &call = matmuls_[cpu::specKey(spec)];
  if (!call) {
    auto created = cpu::MatMulCall::create(spec);
    if (!created)
      return created.error();
    call = std::move(*created);
    call->warmUp();
  }
  return call.get();
}

Result<std::unique_ptr<CpuCommandBuffer>> CpuCommandBuffer::record(const Recording &recording,
                                                                   CallCache &calls) {
  std::unique_ptr<CpuCommandBuffer> buffer(new CpuCommandBuffer());
  buffer->plan_ = recording.plan;
  buffer->executable_ = static_cast<SharedObject *>(recording.executable);
  auto slots = SlotMap::create(*recording.plan, recording.slot);
  if (!slots)
    return slots.error();
  buffer->slots_ = std::make_unique<SlotMap>(std::move(*slots));
  if (recording.commands && recording.commands->commands())
    for (const gc::plan::Command *command : *recording.commands->commands())
      if (Status done = buffer->recordCommand(*command, recording, calls); !done)
        return Error{done.error().kind,
                     "command '" + command->name()->str() + "': " + done.error().message};
  return buffer;
}

static Status checkWorkspace(const gc::plan::Plan &plan, int32_t index, size_t needed) {
  uint64_t planned = index < 0 ? 0 : plan.buffers()->Get(static_cast<uint32_t>(index))->bytes();
  if (needed <= planned)
    return {};
  return deviceError("needs " + std::to_string(needed) + " bytes of workspace here, the plan has " +
                     std::to_string(planned) +
                     "; plan was compiled for another CPU, thread count or oneDNN version; compile "
                     "it again");
}

Status CpuCommandBuffer::recordCommand(const gc::plan::Command &command, const Recording &recording,
                                       CallCache &calls) {
  Step step;
  step.command = &command;
  switch (command.operation_type()) {
  case gc::plan::Operation_Dispatch: {
    const auto &d = *command.operation_as_Dispatch();
    if (!executable_ || d.kernel() >= executable_->kernelCount())
      return badInput("kernel " + std::to_string(d.kernel()) + " is not loaded");
    step.kernel = executable_->kernel(d.kernel());
    step.kernelIndex = d.kernel();
    step.items = static_cast<int64_t>(d.items());
    step.grain = static_cast<int64_t>(std::min<uint64_t>(d.grain(), uint64_t(1) << 62));
    step.firstPointer = pointers_.size();
    pointers_.resize(pointers_.size() + (d.buffers() ? d.buffers()->size() : 0));
    break;
  }
  case gc::plan::Operation_Convolution: {
    const auto &c = *command.operation_as_Convolution();
    auto call = calls.convolution(cpu::specOf(c));
    if (!call)
      return call.error();
    step.convolution = *call;
    if (Status fits = checkWorkspace(*recording.plan, c.workspace(), (*call)->workspaceBytes());
        !fits)
      return fits;
    break;
  }
  case gc::plan::Operation_MatMul: {
    const auto &m = *command.operation_as_MatMul();
    auto call = calls.matmul(cpu::specOf(m));
    if (!call)
      return call.error();
    step.matmul = *call;
    if (Status fits = checkWorkspace(*recording.plan, m.workspace(), (*call)->workspaceBytes());
        !fits)
      return fits;
    break;
  }
  case gc::plan::Operation_Fill:
  case gc::plan::Operation_Copy:
    break;
  case gc::plan::Operation_Launch:
  case gc::plan::Operation_GraphCall:
    return deviceError("this command was compiled for cuda; compile the plan with --device=cpu");
  default:
    return badInput("the cpu device does not know operation " +
                    std::to_string(static_cast<int>(command.operation_type())));
  }
  steps_.push_back(step);
  return {};
}

Status CpuCommandBuffer::bind(Arena &arena) {
  auto *host = dynamic_cast<HostArena *>(&arena);
  if (!host)
    return badInput("the cpu device needs an arena of its own");
  if (arena.size() < plan_->arena_bytes())
    return badInput("the arena has " + std::to_string(arena.size()) + " bytes, the plan needs " +
                    std::to_string(plan_->arena_bytes()));
  for (Step &step : steps_)
    bindStep(step, host->hostData());
  arena_ = host;
  return {};
}

void CpuCommandBuffer::bindStep(Step &step, std::byte *base) {
  auto buffer = [&](uint32_t index) -> std::byte * {
    return base + plan_->buffers()->Get((*slots_)(index))->offset();
  };
  auto optional = [&](int32_t index) -> std::byte * {
    return index < 0 ? nullptr : buffer(static_cast<uint32_t>(index));
  };
  auto view = [&](const gc::plan::View &v) -> std::byte * {
    return buffer(v.buffer()) +
           v.offset() * elementBytes(plan_->buffers()->Get(v.buffer())->dtype());
  };
  switch (step.command->operation_type()) {
  case gc::plan::Operation_Dispatch: {
    const auto *operands = step.command->operation_as_Dispatch()->buffers();
    for (uint32_t i = 0; operands && i < operands->size(); ++i)
      pointers_[step.firstPointer + i] = buffer(operands->Get(i));
    break;
  }
  case gc::plan::Operation_Convolution: {
    const auto &c = *step.command->operation_as_Convolution();
    step.convolutionPointers = {buffer(c.src()),        buffer(c.weights()),
                                buffer(c.dst()),        optional(c.bias()),
                                optional(c.residual()), optional(c.workspace())};
    break;
  }
  case gc::plan::Operation_MatMul: {
    const auto &m = *step.command->operation_as_MatMul();
    step.matmulPointers = {view(*m.a()),       view(*m.b()),           view(*m.c()),
                           optional(m.bias()), optional(m.residual()), optional(m.workspace())};
    break;
  }
  case gc::plan::Operation_Fill: {
    const auto &f = *step.command->operation_as_Fill();
    step.target = buffer(f.buffer());
    step.bytes = plan_->buffers()->Get(f.buffer())->bytes();
    step.value = f.value();
    break;
  }
  default: {
    const auto &c = *step.command->operation_as_Copy();
    step.source = view(*c.source());
    step.target = view(*c.target());
    step.bytes = c.bytes();
  }
  }
}

Status CpuCommandBuffer::execute(int threads, std::span<CommandTime> times) {
  allocation::StepScope scope(arena_->pool());
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!times.empty())
      times[i].begin = seconds();
    if (Status done = executeStep(steps_[i], threads); !done)
      return Error{done.error().kind,
                   "command '" + steps_[i].command->name()->str() + "': " + done.error().message};
    if (!times.empty())
      times[i].end = seconds();
  }
  return {};
}

Status CpuCommandBuffer::executeStep(Step &step, int threads) {
  if (step.kernel) {
    void *const *operands = pointers_.data() + step.firstPointer;
    Kernel kernel = step.kernel;
    if (step.items > 0)
      split(threads, step.items, step.grain,
            [=](int64_t begin, int64_t end) { kernel(operands, begin, end); });
    return {};
  }
  if (step.convolution)
    return step.convolution->execute(step.convolutionPointers);
  if (step.matmul)
    return step.matmul->execute(step.matmulPointers);
  auto bytes = static_cast<int64_t>(step.bytes);
  std::byte *target = step.target;
  if (const std::byte *source = step.source) {
    bool overlap = source < target + bytes && target < source + bytes;
    split(overlap ? 1 : threads, bytes, kBytesGrain, [=](int64_t begin, int64_t end) {
      std::memmove(target + begin, source + begin, static_cast<size_t>(end - begin));
    });
    return {};
  }
  int value = step.value;
  split(threads, bytes, kBytesGrain, [=](int64_t begin, int64_t end) {
    std::memset(target + begin, value, static_cast<size_t>(end - begin));
  });
  return {};
}

std::string CpuCommandBuffer::implementation(size_t index) const {
  const Step &step = steps_[index];
  if (step.kernel)
    return "kernel " + executable_->kernelName(step.kernelIndex);
  if (step.convolution)
    return step.convolution->implementation();
  if (step.matmul)
    return step.matmul->implementation();
  return gc::plan::EnumNameOperation(step.command->operation_type());
}

std::string CpuCommandBuffer::describe(size_t index) const {
  const Step &step = steps_[index];
  return std::string(gc::plan::EnumNameOperation(step.command->operation_type())) + " " +
         step.command->name()->str() + ": " + implementation(index);
}

} // namespace gc::runtime::hal
