#include "runtime/session/Session.h"

#include "runtime/hal/Registry.h"
#include "runtime/plan/Metrics.h"
#include "runtime/session/Disturbance.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace gc::runtime {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

struct Session::State {
  /// One command list: its command buffers (one per slot, or one) and what profiling gathered.
  struct List {
    const char *name = "";
    const gc::plan::CommandList *commands = nullptr;
    std::vector<std::unique_ptr<hal::CommandBuffer>> buffers;
    std::vector<hal::CommandTime> times;             // sized before the first step
    std::vector<std::vector<hal::Readback>> results; // one a slot
    std::vector<CommandTime> profile;
    std::vector<float> recent; // `kept` times of each command, in turn
    size_t kept = 0;
    uint64_t started = 0; // executions
    bool isTimed = false; // the one that runs
    Disturbance before;   // it
    std::vector<std::string> implementations;

    CommandTime timeOf(size_t command) const {
      CommandTime time = profile[command];
      auto first = recent.begin() + static_cast<ptrdiff_t>(command * kept);
      auto count = std::min<uint64_t>(time.executions, kept);
      if (count == 0)
        return time;
      std::vector<float> times(first, first + static_cast<ptrdiff_t>(count));
      std::sort(times.begin(), times.end());
      time.leastSeconds = times.front();
      time.medianSeconds = (times[(count - 1) / 2] + times[count / 2]) / 2;
      return time;
    }
  };

  /// One slot of all inputs on its way to the device.
  struct Slot {
    std::unique_ptr<hal::Event> uploaded; ///< the copy to the device
    std::unique_ptr<hal::Event> read;     ///< the last micro-batch that read it
    bool fresh = false;                   ///< uploaded since then
  };

  const PlanFile *plan = nullptr;
  SessionOptions options;
  // Destroyed in reverse: command buffers, staging, arena, executable, device.
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Executable> executable;
  std::unique_ptr<hal::Arena> arena;
  std::unique_ptr<hal::Staging> inputStaging;  ///< null where the host fills the arena itself
  std::unordered_map<uint32_t, size_t> staged; ///< where an input's buffer is in it
  std::unique_ptr<hal::Staging> metricStaging;
  std::unique_ptr<hal::Event> event;
  std::vector<Slot> inputSlots;
  List once, microBatch, step, evaluate;
  /// A list that was started and is not finished.
  struct Started {
    List *list = nullptr;
    hal::Event *done = nullptr;
    uint32_t slot = 0;
  };
  std::array<Started, 2> running; ///< the older one first
  size_t runningCount = 0;
  uint32_t finishedSlot = 0; ///< of the last micro-batch that was finished
  std::unordered_map<std::string_view, const gc::plan::Variable *> variables;
  std::vector<uint32_t>
      metrics; ///< buffers, in the order of metricStaging, which has all of a slot
  uint32_t slots = 1;
  double began = 0;
  MemoryMeasurement memory;
  bool peakReset = false;

  Status recordList(List &list, const char *name, const gc::plan::CommandList *commands,
                    uint32_t slotCount) {
    list.name = name;
    list.commands = commands;
    for (uint32_t slot = 0; slot < slotCount; ++slot) {
      auto buffer = device->record({&plan->get(), commands, executable.get(), slot});
      if (!buffer)
        return buffer.error();
      list.buffers.push_back(std::move(*buffer));
    }
    if (!options.profile && !options.timeFirstSteps)
      return {};
    list.kept = options.profile ? kProfiledExecutions : kFirstExecutions;
    size_t n = list.buffers[0]->size();
    list.times.resize(n);
    list.profile.resize(n);
    list.recent.resize(n * list.kept);
    for (size_t i = 0; i < n; ++i)
      list.implementations.push_back(list.buffers[0]->implementation(i));
    for (size_t i = 0; i < n; ++i) {
      const gc::plan::Command &command = *commands->commands()->Get(static_cast<uint32_t>(i));
      CommandTime &entry = list.profile[i];
      entry.name = command.name()->string_view();
      entry.implementation = list.implementations[i];
      entry.list = name;
      entry.flops = command.flops();
      entry.bytesMoved = command.bytes_moved();
      entry.secondsPredicted = command.seconds_predicted();
      entry.op = command.op();
      entry.recomputed = command.recomputed();
      if (command.work())
        entry.work = command.work()->string_view();
      for (uint32_t p = 0; command.parts() && p < command.parts()->size(); ++p) {
        const gc::plan::CommandPart &part = *command.parts()->Get(p);
        entry.parts.push_back({part.name()->string_view(), part.flops(), part.bytes_moved(),
                               part.seconds_predicted(), part.op()});
      }
    }
    return {};
  }

  Status bindAll() {
    for (List *list : {&once, &microBatch, &step, &evaluate})
      for (auto &buffer : list->buffers)
        if (Status bound = buffer->bind(*arena); !bound)
          return bound;
    return {};
  }

  /// Inputs that the host cannot write where they are needed, side by side in staging.
  Status stageInputs() {
    if (arena->hostData() || !plan->get().inputs())
      return {};
    size_t bytes = 0;
    for (const gc::plan::Input *input : *plan->get().inputs())
      for (uint32_t index : *input->slots())
        if (staged.emplace(index, bytes).second)
          bytes += (bufferOf(index).bytes() + kBufferAlignment - 1) / kBufferAlignment *
                   kBufferAlignment;
    auto created = device->createStaging(bytes);
    if (!created)
      return created.error();
    inputStaging = std::move(*created);
    return {};
  }

  Status createEvents() {
    auto create = [&](std::unique_ptr<hal::Event> &target) -> Status {
      auto created = device->createEvent();
      if (!created)
        return created.error();
      target = std::move(*created);
      return {};
    };
    inputSlots.resize(slots);
    if (Status done = create(event); !done)
      return done;
    for (Slot &slot : inputSlots)
      for (auto *target : {&slot.uploaded, &slot.read})
        if (Status done = create(*target); !done)
          return done;
    return {};
  }

  /// Metrics come back at the end of the list that computes them.
  Status stageMetrics() {
    const gc::plan::Plan &p = plan->get();
    size_t count = p.metrics() ? p.metrics()->size() : 0;
    auto created = device->createStaging(std::max<size_t>(slots * count, 1) * sizeof(float));
    if (!created)
      return created.error();
    metricStaging = std::move(*created);
    for (List *list : {&once, &microBatch, &step, &evaluate})
      list->results.resize(list->buffers.size());
    for (size_t i = 0; i < count; ++i) {
      const gc::plan::Metric &metric = *p.metrics()->Get(static_cast<uint32_t>(i));
      metrics.push_back(metric.buffer());
      List &list = metric.evaluate() ? evaluate : microBatch;
      for (size_t slot = 0; slot < list.results.size(); ++slot)
        list.results[slot].push_back(
            {bufferOf(metric.buffer()).offset(),
             metricStaging->bytes().subspan((slot * count + i) * sizeof(float), sizeof(float))});
    }
    return {};
  }

  /// Whether a list may be started while another one runs: the device queues them, each micro-batch
  /// has a slot of its own, and nobody wants the times of single commands.
  bool overlaps() const { return inputStaging && slots > 1 && !options.profile; }

  Status upload(uint32_t slot) {
    if (slot >= slots)
      return badInput("slot " + std::to_string(slot) + " of " + std::to_string(slots) +
                      " was asked for");
    if (!inputStaging)
      return {};
    Slot &s = inputSlots[slot];
    // Copies follow one another, so that the last one's end is the end of all.
    for (const gc::plan::Input *input : *plan->get().inputs()) {
      uint32_t index = input->slots()->Get(slot);
      auto source = inputStaging->bytes().subspan(staged.at(index), bufferOf(index).bytes());
      if (Status started =
              device->upload(*arena, bufferOf(index).offset(), source, s.read.get(), *s.uploaded);
          !started)
        return started;
    }
    s.fresh = true;
    return {};
  }

  /// Starts a list of a micro-batch with its slot's data.
  Status start(List &list, uint32_t slot) {
    if (slot >= list.buffers.size())
      return badInput("slot " + std::to_string(slot) + " of " +
                      std::to_string(list.buffers.size()) + " was asked for");
    for (size_t i = 0; i < runningCount; ++i)
      if (running[i].done == inputSlots[slot].read.get())
        return runFailed("internal error: a micro-batch was started in a slot that is being read");
    if (!inputSlots[slot].fresh)
      if (Status started = upload(slot); !started)
        return started;
    inputSlots[slot].fresh = false;
    return start(list, slot, *inputSlots[slot].read, inputSlots[slot].uploaded.get());
  }

  Status start(List &list, uint32_t slot, hal::Event &done, hal::Event *after) {
    if (runningCount == (overlaps() ? running.size() : 1))
      return runFailed("internal error: a list was started while another one runs");
    list.isTimed = options.profile || (options.timeFirstSteps && list.started >= 1 &&
                                       list.started <= kFirstExecutions);
    ++list.started;
    if (list.isTimed && !options.profile)
      list.before = Disturbance::now();
    std::span<hal::CommandTime> times;
    if (list.isTimed)
      times = list.times;
    if (Status started =
            device->submit(*list.buffers[slot], done,
                           {.after = after, .times = times, .results = list.results[slot]});
        !started)
      return started;
    running[runningCount++] = {&list, &done, slot};
    return {};
  }

  /// Of the lists that were started, the older one.
  Status finish() {
    if (runningCount == 0)
      return runFailed("internal error: nothing was started that could be finished");
    Started oldest = running[0];
    running[0] = running[--runningCount];
    List &list = *oldest.list;
    if (&list == &microBatch || &list == &evaluate)
      finishedSlot = oldest.slot;
    Status done = oldest.done->wait();
    bool isSpoilt = !options.profile && list.isTimed && Disturbance::now().spoils(list.before);
    if (done && list.isTimed && !isSpoilt)
      for (size_t i = 0; i < list.profile.size(); ++i) {
        CommandTime &entry = list.profile[i];
        size_t turn = entry.executions++ % list.kept;
        entry.lastBegin = list.times[i].begin - began;
        entry.lastSeconds = list.times[i].end - list.times[i].begin;
        entry.seconds += entry.lastSeconds;
        list.recent[i * list.kept + turn] = static_cast<float>(entry.lastSeconds);
      }
    return done;
  }

  Status runWhole(List &list) {
    if (Status started = start(list, 0, *event, nullptr); !started)
      return started;
    return finish();
  }

  const gc::plan::Buffer &bufferOf(uint32_t index) const {
    return *plan->get().buffers()->Get(index);
  }
  bool hasBuffer(int64_t index) const {
    return index >= 0 && plan->get().buffers() &&
           index < static_cast<int64_t>(plan->get().buffers()->size());
  }
  /// Its offset, when it has `bytes` bytes.
  Result<size_t> place(int64_t index, size_t bytes) const {
    if (!hasBuffer(index))
      return badInput("the plan has no buffer " + std::to_string(index));
    const gc::plan::Buffer &b = bufferOf(static_cast<uint32_t>(index));
    if (b.bytes() != bytes)
      return badInput("buffer '" + b.name()->str() + "' has " + std::to_string(b.bytes()) +
                      " bytes, not " + std::to_string(bytes));
    return static_cast<size_t>(b.offset());
  }
  Status read(int64_t index, std::span<std::byte> target) {
    auto offset = place(index, target.size());
    return offset ? arena->read(*offset, target) : offset.error();
  }
  Status write(int64_t index, std::span<const std::byte> source) {
    auto offset = place(index, source.size());
    return offset ? arena->write(*offset, source) : offset.error();
  }

  std::span<std::byte> view(uint32_t index) {
    if (!hasBuffer(index) || !arena->hostData())
      return {};
    return {arena->hostData() + bufferOf(index).offset(), bufferOf(index).bytes()};
  }

  Result<const gc::plan::Variable *> variable(std::string_view name) const {
    auto found = variables.find(name);
    if (found == variables.end())
      return badInput("the plan has no variable '" + std::string(name) + "'");
    return found->second;
  }

  Result<float> metric(uint32_t buffer) const {
    for (size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i] == buffer) {
        float value;
        size_t at = finishedSlot * metrics.size() + i;
        std::memcpy(&value, metricStaging->bytes().data() + at * sizeof(float), sizeof(value));
        return value;
      }
    return badInput("buffer " + std::to_string(buffer) + " is no metric of the plan");
  }
  Metrics metricsOf(bool evaluated) const {
    auto read = [&](std::string_view name) -> double {
      std::optional<uint32_t> buffer = findMetric(plan->get(), name, evaluated);
      return buffer ? *metric(*buffer) : 0;
    };
    return {read(kLossMetric), read(kCorrectMetric)};
  }
};

Session::Session() : state_(std::make_unique<State>()) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(const PlanFile &plan,
                                                 const SessionOptions &options) {
  std::unique_ptr<Session> session(new Session());
  State &s = *session->state_;
  s.plan = &plan;
  s.options = options;
  s.began = seconds();
  // Phase one: code and primitives. What grows here is the libraries' own.
  uint64_t atStart = readProcessMemory().resident;
  std::string name = options.device.empty() ? plan->target()->device()->str() : options.device;
  // Generated kernels split their work by the team, and with it their sums: another one, other
  // bits.
  int planned = static_cast<int>(plan->target()->threads());
  if (name == "cpu" && planned && options.threads && options.threads != planned)
    return deviceError(
        "the plan was compiled for " + std::to_string(planned) + " threads, not for " +
        std::to_string(options.threads) +
        "; leave --threads out, or compile it with --threads=" + std::to_string(options.threads));
  int threads = options.threads ? options.threads : planned;
  auto device = hal::createDevice(name, {.threads = threads});
  if (!device)
    return device.error();
  s.device = std::move(*device);
  auto executable = s.device->load(*plan);
  if (!executable)
    return executable.error();
  s.executable = std::move(*executable);
  if (plan->inputs() && plan->inputs()->size()) {
    s.slots = UINT32_MAX;
    for (const gc::plan::Input *input : *plan->inputs())
      s.slots = std::min<uint32_t>(s.slots, input->slots()->size());
  }
  for (Status recorded : {s.recordList(s.once, "once", plan->once(), 1),
                          s.recordList(s.microBatch, "micro_batch", plan->micro_batch(), s.slots),
                          s.recordList(s.step, "step", plan->step(), 1),
                          s.recordList(s.evaluate, "evaluate", plan->evaluate(), s.slots)})
    if (!recorded)
      return recorded.error();
  for (uint32_t i = 0; plan->variables() && i < plan->variables()->size(); ++i)
    s.variables[plan->variables()->Get(i)->name()->string_view()] = plan->variables()->Get(i);
  // Phase two: memory. The kernel's high-water mark starts anew, so that the peak is the arena's
  // time.
  s.memory.rssBeforeBytes = readProcessMemory().resident;
  s.memory.libraryBytes = s.memory.rssBeforeBytes > atStart ? s.memory.rssBeforeBytes - atStart : 0;
  s.peakReset = resetPeakMemory();
  auto arena = s.device->createArena(*plan);
  if (!arena)
    return arena.error();
  s.arena = std::move(*arena);
  for (Status ready : {s.createEvents(), s.stageInputs(), s.stageMetrics(), s.bindAll()})
    if (!ready)
      return ready.error();
  return session;
}

const PlanFile &Session::plan() const { return *state_->plan; }
std::vector<std::string> Session::notices() const { return state_->executable->notices(); }
hal::Device &Session::device() { return *state_->device; }
uint32_t Session::slots() const { return state_->slots; }

bool Session::stagesInput() const { return state_->inputStaging != nullptr; }
bool Session::overlaps() const { return state_->overlaps(); }
bool Session::hasStep() const { return state_->step.buffers[0]->size() > 0; }

Status Session::readBuffer(uint32_t index, std::span<std::byte> target) {
  return state_->read(index, target);
}
Status Session::writeBuffer(uint32_t index, std::span<const std::byte> source) {
  return state_->write(index, source);
}
Status Session::readVariable(std::string_view name, std::span<std::byte> target) {
  auto variable = state_->variable(name);
  return variable ? state_->read((*variable)->buffer(), target) : variable.error();
}
Status Session::writeVariable(std::string_view name, std::span<const std::byte> source) {
  auto variable = state_->variable(name);
  return variable ? state_->write((*variable)->buffer(), source) : variable.error();
}
Status Session::readGradient(std::string_view name, std::span<std::byte> target) {
  auto variable = state_->variable(name);
  if (!variable)
    return variable.error();
  if ((*variable)->gradient_buffer() < 0)
    return badInput("the plan does not keep the gradient of '" + std::string(name) + "'");
  return state_->read((*variable)->gradient_buffer(), target);
}
std::span<std::byte> Session::hostView(uint32_t index) { return state_->view(index); }

std::span<std::byte> Session::input(std::string_view name, uint32_t slot) {
  const auto *inputs = state_->plan->get().inputs();
  for (uint32_t i = 0; inputs && i < inputs->size(); ++i)
    if (inputs->Get(i)->name()->string_view() == name && slot < inputs->Get(i)->slots()->size()) {
      uint32_t index = inputs->Get(i)->slots()->Get(slot);
      if (!state_->inputStaging)
        return state_->view(index);
      return state_->inputStaging->bytes().subspan(state_->staged.at(index),
                                                   state_->bufferOf(index).bytes());
    }
  return {};
}

Status Session::upload(uint32_t slot) { return state_->upload(slot); }
Status Session::startMicroBatch(uint32_t slot) { return state_->start(state_->microBatch, slot); }
Status Session::startEvaluate(uint32_t slot) {
  if (!state_->plan->get().evaluate())
    return badInput("the plan has no commands for evaluation; compile it with --evaluate");
  return state_->start(state_->evaluate, slot);
}
Status Session::startStep() { return state_->start(state_->step, 0, *state_->event, nullptr); }
Status Session::finishMicroBatch() { return state_->finish(); }
Status Session::finishStarted() { return state_->finish(); }

Status Session::runOnce() { return state_->runWhole(state_->once); }
Status Session::finishStep() { return hasStep() ? state_->runWhole(state_->step) : Status(); }
Status Session::runMicroBatch(uint32_t slot) {
  Status started = startMicroBatch(slot);
  return started ? finishMicroBatch() : started;
}
Status Session::evaluateMicroBatch(uint32_t slot) {
  Status started = startEvaluate(slot);
  return started ? finishMicroBatch() : started;
}

Result<float> Session::metric(uint32_t buffer) const { return state_->metric(buffer); }

Metrics Session::metrics() const { return state_->metricsOf(/*evaluated=*/false); }

Metrics Session::evaluateMetrics() const { return state_->metricsOf(/*evaluated=*/true); }

MemoryMeasurement Session::memory() {
  MemoryMeasurement &m = state_->memory;
  ProcessMemory now = readProcessMemory();
  // Without a reset the mark may be older than the arena; then only our own samples count.
  m.rssPeakBytes = std::max({m.rssPeakBytes, now.resident, state_->peakReset ? now.peak : 0});
  m.arenaBytes = state_->arena->residentBytes();
  m.peakBytes = m.rssPeakBytes > m.rssBeforeBytes ? m.rssPeakBytes - m.rssBeforeBytes : 0;
  m.allocationsInStep = allocationsInStep();
  m.device = state_->device->memory();
  if (m.device) {
    m.peakBytes = m.device->arena;
    m.libraryBytes = m.device->libraries;
  }
  return m;
}

uint64_t Session::allocationsInStep() const { return state_->device->allocations().heap; }
uint64_t Session::transientsInStep() const { return state_->device->allocations().transients; }

double Session::secondsSinceBegin() const { return seconds() - state_->began; }

std::vector<CommandTime> Session::profile() const {
  std::vector<CommandTime> all;
  for (const State::List *list :
       {&state_->once, &state_->microBatch, &state_->step, &state_->evaluate})
    for (size_t i = 0; i < list->profile.size(); ++i)
      all.push_back(list->timeOf(i));
  return all;
}

std::vector<std::string> Session::describe(std::string_view name) const {
  std::vector<std::string> lines;
  for (const State::List *list :
       {&state_->once, &state_->microBatch, &state_->step, &state_->evaluate})
    if (name == list->name && !list->buffers.empty())
      for (size_t i = 0; i < list->buffers[0]->size(); ++i)
        lines.push_back(list->buffers[0]->describe(i));
  return lines;
}

} // namespace gc::runtime
