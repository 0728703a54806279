#include "runtime/cuda/CudaCommandBuffer.h"

#include "runtime/plan/CudnnProfile.h"

#include <algorithm>
#include <chrono>

namespace gc::runtime::cuda {

using gc::plan::Operation_Copy;
using gc::plan::Operation_Fill;
using gc::plan::Operation_GraphCall;
using gc::plan::Operation_Launch;

/// The most pieces into which a copy between overlapping ranges is cut.
static constexpr size_t kOverlappingPieces = 4096;

static std::string listName(const gc::plan::Plan &plan, const gc::plan::CommandList *list) {
  std::pair<const char *, const gc::plan::CommandList *> lists[] = {
      {"once", plan.once()},
      {"micro_batch", plan.micro_batch()},
      {"step", plan.step()},
      {"evaluate", plan.evaluate()}};
  for (auto [name, candidate] : lists)
    if (candidate == list)
      return std::string("the list ") + name;
  return "a command list";
}

Result<std::unique_ptr<CudaCommandBuffer>>
CudaCommandBuffer::record(Context &context, const hal::Recording &recording) {
  std::unique_ptr<CudaCommandBuffer> buffer(new CudaCommandBuffer(context));
  buffer->plan_ = recording.plan;
  buffer->modules_ = dynamic_cast<KernelModules *>(recording.executable);
  auto slots = hal::SlotMap::create(*recording.plan, recording.slot);
  if (!slots)
    return slots.error();
  buffer->slots_ = std::make_unique<hal::SlotMap>(std::move(*slots));
  buffer->subject_ = listName(*recording.plan, recording.commands);
  const auto *commands = recording.commands ? recording.commands->commands() : nullptr;
  if (!commands || commands->size() == 0)
    return buffer;
  for (const gc::plan::Command *command : *commands)
    if (Status done = buffer->recordCommand(*command, recording); !done)
      return Error{done.error().kind,
                   "command '" + command->name()->str() + "': " + done.error().message};
  buffer->subject_ += " (" + std::to_string(commands->size()) + " commands, " +
                      commands->Get(0)->name()->str() + " to " +
                      commands->Get(commands->size() - 1)->name()->str() + ")";
  buffer->pointToAddresses();
  return buffer;
}

Status CudaCommandBuffer::recordCommand(const gc::plan::Command &command,
                                        const hal::Recording &recording) {
  Step step;
  step.command = &command;
  switch (command.operation_type()) {
  case Operation_Launch:
    if (Status added = addLaunch(step, *command.operation_as_Launch()); !added)
      return added;
    break;
  case Operation_GraphCall: {
    const auto &call = *command.operation_as_GraphCall();
    if (!modules_ || !modules_->graphs())
      return badInput("the plan's library graphs are not loaded");
    if (modules_->usesGraph(call)) {
      if (call.scalars())
        step.scalars.assign(call.scalars()->begin(), call.scalars()->end());
      break;
    }
    if (Status replaced = useTwin(step, call); !replaced)
      return replaced;
    break;
  }
  case Operation_Fill:
  case Operation_Copy:
    break;
  default:
    return deviceError(std::string("a ") + gc::plan::EnumNameOperation(command.operation_type()) +
                       " was compiled for cpu; compile the plan with --device=cuda");
  }
  steps_.push_back(std::move(step));
  return {};
}

Status CudaCommandBuffer::addLaunch(Step &step, const gc::plan::Launch &launch) {
  if (!modules_ || launch.kernel() >= modules_->kernelCount())
    return badInput("kernel " + std::to_string(launch.kernel()) + " is not loaded");
  const gc::plan::Extent &block = *launch.block();
  if (Status possible = modules_->prepare(launch.kernel(), block.x() * block.y() * block.z(),
                                          launch.shared_bytes());
      !possible)
    return possible;
  step.launches.push_back({&launch, addresses_.size()});
  addresses_.resize(addresses_.size() + (launch.buffers() ? launch.buffers()->size() : 0));
  return {};
}

CUdeviceptr CudaCommandBuffer::address(uint32_t buffer, uint64_t elements) const {
  const gc::plan::Buffer &b = *plan_->buffers()->Get((*slots_)(buffer));
  return arena_->address(b.offset() + elements * elementBytes(b.dtype()));
}

Status CudaCommandBuffer::bind(hal::Arena &arena) {
  auto *mine = dynamic_cast<CudaArena *>(&arena);
  if (!mine)
    return badInput("the cuda device needs an arena of its own");
  if (arena.size() < plan_->arena_bytes())
    return badInput("the arena has " + std::to_string(arena.size()) + " bytes, the plan needs " +
                    std::to_string(plan_->arena_bytes()));
  if (Status entered = context_.enter(); !entered)
    return entered;
  arena_ = mine;
  Status ready;
  for (Step &step : steps_)
    if (ready = bindStep(step); !ready)
      break;
  if (ready)
    ready = warmUp();
  if (ready)
    if (Status captured = capture(); !captured)
      ready = goOnWithout(captured.error());
  if (!ready)
    arena_ = nullptr;
  return ready;
}

Status CudaCommandBuffer::bindStep(Step &step) {
  for (const KernelCall &call : step.launches)
    for (uint32_t i = 0; call.launch->buffers() && i < call.launch->buffers()->size(); ++i)
      addresses_[call.firstParameter + i] = address(call.launch->buffers()->Get(i));
  if (!step.launches.empty())
    return {};
  switch (step.command->operation_type()) {
  case Operation_GraphCall: {
    const auto &call = *step.command->operation_as_GraphCall();
    // Another list may have found, after this one was recorded, that the graph does not run.
    return modules_->usesGraph(call) ? bindGraphCall(step, call) : useTwin(step, call);
  }
  case Operation_Fill: {
    uint32_t buffer = step.command->operation_as_Fill()->buffer();
    step.target = address(buffer);
    step.bytes = plan_->buffers()->Get((*slots_)(buffer))->bytes();
    return {};
  }
  default: {
    const auto &c = *step.command->operation_as_Copy();
    step.source = address(c.source()->buffer(), c.source()->offset());
    step.target = address(c.target()->buffer(), c.target()->offset());
    step.bytes = c.bytes();
    return {};
  }
  }
}

Status CudaCommandBuffer::bindGraphCall(Step &step, const gc::plan::GraphCall &call) {
  CudnnBindings bindings;
  auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  for (uint32_t i = 0; call.ids() && i < call.ids()->size(); ++i) {
    bindings.ids.push_back(call.ids()->Get(i));
    const gc::plan::View &view = *call.buffers()->Get(i);
    bindings.pointers.push_back(pointer(address(view.buffer(), view.offset())));
  }
  for (uint32_t i = 0; call.scalar_ids() && i < call.scalar_ids()->size(); ++i) {
    bindings.ids.push_back(call.scalar_ids()->Get(i));
    bindings.pointers.push_back(&step.scalars[i]);
  }
  if (call.workspace() >= 0) {
    constexpr CUdeviceptr kAlignment = plan::kWorkspaceAlignment;
    auto buffer = static_cast<uint32_t>(call.workspace());
    uint64_t needs = plan_->graphs()->Get(call.graph())->workspace_bytes();
    CUdeviceptr begin = address(buffer),
                aligned = (begin + kAlignment - 1) / kAlignment * kAlignment;
    if (needs > 0 && aligned - begin + needs > plan_->buffers()->Get(buffer)->bytes())
      return badInput("the plan has no room to align the workspace of " + subjectOf(step) +
                      "; compile it again");
    bindings.workspace = pointer(aligned);
  }
  auto pack = modules_->graphs()->pack(bindings, subjectOf(step));
  if (!pack)
    return pack.error();
  step.pack = std::move(*pack);
  return {};
}

Status CudaCommandBuffer::warmUp() {
  bool wrote = false;
  CudnnGraphs *graphs = modules_ ? modules_->graphs() : nullptr;
  for (Step &step : steps_) {
    const auto *call = step.command->operation_as_GraphCall();
    if (!call || !step.launches.empty())
      continue;
    if (modules_->usesGraph(*call) && !graphs->isWarm(call->graph())) {
      wrote = true; // even a graph that fails may have begun
      Status executed = graphs->execute(call->graph(), step.pack, subjectOf(step));
      if (!executed && !modules_->hasTwin(*call))
        return executed;
      if (!executed)
        graphs->refuse(call->graph(), "it failed when it was tried: " + executed.error().message);
      // An error of a kernel would stay: then nothing can run instead.
      GC_CUDA(context_.driver(), cuStreamSynchronize, subjectOf(step), context_.compute());
      if (executed)
        graphs->setWarm(call->graph());
    }
    if (!modules_->usesGraph(*call))
      if (Status replaced = useTwin(step, *call); !replaced)
        return replaced;
  }
  // What the graphs wrote is gone again: the arena was all zeros.
  return wrote ? arena_->clear() : Status();
}

Status CudaCommandBuffer::useTwin(Step &step, const gc::plan::GraphCall &call) {
  step.pack = {};
  step.scalars.clear();
  for (const gc::plan::Launch *launch : *call.twin())
    if (Status added = addLaunch(step, *launch); !added)
      return added;
  pointToAddresses();
  return arena_ ? bindStep(step) : Status();
}

void CudaCommandBuffer::pointToAddresses() {
  parameters_.clear();
  for (CUdeviceptr &address : addresses_)
    parameters_.push_back(&address);
}

Status CudaCommandBuffer::capture() {
  graph_ = {};
  if (steps_.empty())
    return {};
  const Driver &d = context_.driver();
  // Relaxed: a library may load code the first time that it executes, which other modes forbid.
  GC_CUDA(d, cuStreamBeginCapture, subject_, context_.compute(), CU_STREAM_CAPTURE_MODE_RELAXED);
  Status enqueued;
  for (const Step &step : steps_)
    if (enqueued = enqueue(step); !enqueued)
      break;
  // Capturing is ended even after an error, or the stream would capture for ever.
  Graph graph(context_);
  CUresult ended = d.cuStreamEndCapture(context_.compute(), graph.out());
  if (!enqueued)
    return enqueued;
  if (Status fine = d.check(ended, "cuStreamEndCapture", subject_); !fine)
    return fine;
  GraphExecutable executable(context_);
  GC_CUDA(d, cuGraphInstantiate, subject_, executable.out(), graph.get(), 0);
  graph_ = std::move(executable);
  return {};
}

// Some calls are forbidden while commands are captured, and which ones a library makes is its own
// affair. Where nothing else is wrong, the commands can be submitted one by one; if something is,
// the first submission will tell.
Status CudaCommandBuffer::goOnWithout(const Error &why) {
  graph_ = {};
  if (!modules_ || context_.driver().cuStreamSynchronize(context_.compute()) != CUDA_SUCCESS)
    return why; // the context is lost
  modules_->noteUncaptured(subject_, why.message);
  return {};
}

Status CudaCommandBuffer::enqueue(const Step &step) {
  const Driver &d = context_.driver();
  for (const KernelCall &call : step.launches) {
    const gc::plan::Extent &grid = *call.launch->grid(), &block = *call.launch->block();
    GC_CUDA(d, cuLaunchKernel, subjectOf(step), modules_->function(call.launch->kernel()), grid.x(),
            grid.y(), grid.z(), block.x(), block.y(), block.z(), call.launch->shared_bytes(),
            context_.compute(), parameters_.data() + call.firstParameter, nullptr);
  }
  if (!step.launches.empty())
    return {};
  switch (step.command->operation_type()) {
  case Operation_GraphCall:
    return modules_->graphs()->execute(step.command->operation_as_GraphCall()->graph(), step.pack,
                                       subjectOf(step));
  case Operation_Fill:
    if (step.bytes)
      GC_CUDA(d, cuMemsetD8Async, subjectOf(step), step.target,
              step.command->operation_as_Fill()->value(), step.bytes, context_.compute());
    return {};
  default:
    return enqueueCopy(step);
  }
}

/// The driver's copies must not overlap. One that does is cut into pieces as long as the distance
/// between source and target, from the end that is not overwritten.
Status CudaCommandBuffer::enqueueCopy(const Step &step) {
  bool up = step.target > step.source; // then the pieces at the end are copied first
  size_t distance = up ? step.target - step.source : step.source - step.target;
  if (distance == 0 || step.bytes == 0)
    return {};
  size_t piece = std::min(distance, step.bytes);
  if (step.bytes / piece >= kOverlappingPieces)
    return deviceError("the copy '" + step.command->name()->str() + "' of " +
                       std::to_string(step.bytes) + " bytes overlaps itself in all but " +
                       std::to_string(distance));
  for (size_t done = 0; done < step.bytes; done += piece) {
    size_t bytes = std::min(piece, step.bytes - done);
    size_t at = up ? step.bytes - done - bytes : done;
    GC_CUDA(context_.driver(), cuMemcpyDtoDAsync, subjectOf(step), step.target + at,
            step.source + at, bytes, context_.compute());
  }
  return {};
}

Status CudaCommandBuffer::launch() {
  if (graph_) {
    GC_CUDA(context_.driver(), cuGraphLaunch, subject_, graph_.get(), context_.compute());
    return {};
  }
  for (const Step &step : steps_)
    if (Status enqueued = enqueue(step); !enqueued)
      return enqueued;
  return {};
}

Status CudaCommandBuffer::launchEach(std::span<hal::CommandTime> times) {
  const Driver &d = context_.driver();
  for (EventHandle *event : {&origin_, &begin_, &end_})
    if (!*event) {
      *event = EventHandle(context_);
      GC_CUDA(d, cuEventCreate, "", event->out(), CU_EVENT_DEFAULT);
    }
  CUstream stream = context_.compute();
  GC_CUDA(d, cuEventRecord, subject_, origin_.get(), stream);
  GC_CUDA(d, cuEventSynchronize, subject_, origin_.get());
  double start =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step &step = steps_[i];
    GC_CUDA(d, cuEventRecord, subjectOf(step), begin_.get(), stream);
    if (Status enqueued = enqueue(step); !enqueued)
      return enqueued;
    GC_CUDA(d, cuEventRecord, subjectOf(step), end_.get(), stream);
    GC_CUDA(d, cuEventSynchronize, subjectOf(step), end_.get());
    float before = 0, taken = 0;
    GC_CUDA(d, cuEventElapsedTime, subjectOf(step), &before, origin_.get(), begin_.get());
    GC_CUDA(d, cuEventElapsedTime, subjectOf(step), &taken, begin_.get(), end_.get());
    times[i].begin = start + before * 1e-3;
    times[i].end = times[i].begin + taken * 1e-3;
  }
  return {};
}

std::string CudaCommandBuffer::kernelNames(const Step &step) const {
  std::string names;
  for (const KernelCall &call : step.launches)
    names += (names.empty() ? "kernel " : ", ") + modules_->kernelName(call.launch->kernel());
  return names;
}

std::string CudaCommandBuffer::subjectOf(const Step &step) const {
  std::string text = step.command->name()->str();
  if (!step.launches.empty())
    text += " (" + kernelNames(step) + ")";
  else if (const auto *call = step.command->operation_as_GraphCall())
    text += " (cuDNN graph " + modules_->graphs()->name(call->graph()) + ")";
  return text;
}

std::string CudaCommandBuffer::implementation(size_t index) const {
  const Step &step = steps_[index];
  if (!step.launches.empty())
    return kernelNames(step);
  if (const auto *call = step.command->operation_as_GraphCall())
    return "cuDNN " + modules_->graphs()->name(call->graph());
  return gc::plan::EnumNameOperation(step.command->operation_type());
}

std::string CudaCommandBuffer::describe(size_t index) const {
  const gc::plan::Command &command = *steps_[index].command;
  return std::string(gc::plan::EnumNameOperation(command.operation_type())) + " " +
         command.name()->str() + ": " + implementation(index);
}

} // namespace gc::runtime::cuda
