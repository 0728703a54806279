#include "runtime/session/Session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_map>

namespace gc::runtime {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One command list: its command buffers (one per slot, or one) and what profiling gathered.
struct List {
  const char *name = "";
  const gc::plan::CommandList *commands = nullptr;
  std::vector<std::unique_ptr<hal::CommandBuffer>> buffers;
  std::vector<hal::CommandTime> times; // sized before the first step
  std::vector<CommandProfile> profile;
  std::vector<float> recent; // kProfiledExecutions times of each command, in turn
  std::vector<std::string> implementations;

  double median(size_t command) const {
    auto first = recent.begin() + static_cast<ptrdiff_t>(command * kProfiledExecutions);
    auto count = std::min<uint64_t>(profile[command].executions, kProfiledExecutions);
    if (count == 0)
      return 0;
    std::vector<float> times(first, first + static_cast<ptrdiff_t>(count));
    std::sort(times.begin(), times.end());
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
  }
};

} // namespace

struct Session::State {
  const PlanFile *plan = nullptr;
  SessionOptions options;
  // Destroyed in reverse: command buffers, arena, executable, device.
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Executable> executable;
  std::unique_ptr<hal::Arena> arena;
  std::unique_ptr<hal::Event> event;
  List once, microBatch, step, evaluate;
  std::unordered_map<std::string_view, const gc::plan::Variable *> variables;
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
    if (!options.profile)
      return {};
    size_t n = list.buffers[0]->size();
    list.times.resize(n);
    list.profile.resize(n);
    list.recent.resize(n * kProfiledExecutions);
    for (size_t i = 0; i < n; ++i)
      list.implementations.push_back(list.buffers[0]->implementation(i));
    for (size_t i = 0; i < n; ++i) {
      const gc::plan::Command &command = *commands->commands()->Get(static_cast<uint32_t>(i));
      CommandProfile &entry = list.profile[i];
      entry.name = command.name()->string_view();
      entry.implementation = list.implementations[i];
      entry.list = name;
      entry.flops = command.flops();
      entry.bytesMoved = command.bytes_moved();
      entry.secondsPredicted = command.seconds_predicted();
      entry.op = command.op();
      entry.recomputed = command.recomputed();
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

  Status run(List &list, uint32_t slot) {
    if (slot >= list.buffers.size())
      return badInput("slot " + std::to_string(slot) + " of " +
                      std::to_string(list.buffers.size()) + " was asked for");
    if (Status started = device->submit(*list.buffers[slot], *event, list.times); !started)
      return started;
    Status done = event->wait();
    if (done)
      for (size_t i = 0; i < list.profile.size(); ++i) {
        CommandProfile &entry = list.profile[i];
        size_t turn = entry.executions++ % kProfiledExecutions;
        entry.lastBegin = list.times[i].begin - began;
        entry.lastSeconds = list.times[i].end - list.times[i].begin;
        entry.seconds += entry.lastSeconds;
        list.recent[i * kProfiledExecutions + turn] = static_cast<float>(entry.lastSeconds);
      }
    return done;
  }

  std::span<std::byte> bytes(int64_t index) {
    if (index < 0 ||
        index >= static_cast<int64_t>(plan->get().buffers() ? plan->get().buffers()->size() : 0) ||
        !arena->hostData())
      return {};
    const gc::plan::Buffer &buffer = *plan->get().buffers()->Get(static_cast<uint32_t>(index));
    return {arena->hostData() + buffer.offset(), static_cast<size_t>(buffer.bytes())};
  }

  double scalar(int32_t index) {
    std::span<std::byte> data = bytes(index);
    float value = 0;
    if (data.size() >= sizeof(value))
      std::memcpy(&value, data.data(), sizeof(value));
    return value;
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
  auto device = hal::createDevice(name, {.threads = options.threads});
  if (!device)
    return device.error();
  s.device = std::move(*device);
  auto executable = s.device->load(plan->kernels());
  if (!executable)
    return executable.error();
  s.executable = std::move(*executable);
  s.event = s.device->createEvent();
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
  if (Status bound = s.bindAll(); !bound)
    return bound.error();
  return session;
}

const PlanFile &Session::plan() const { return *state_->plan; }
hal::Device &Session::device() { return *state_->device; }
uint32_t Session::slots() const { return state_->slots; }

std::span<std::byte> Session::buffer(uint32_t index) { return state_->bytes(index); }

std::span<std::byte> Session::variable(std::string_view name) {
  auto found = state_->variables.find(name);
  return found == state_->variables.end() ? std::span<std::byte>()
                                          : state_->bytes(found->second->buffer());
}

std::span<std::byte> Session::gradient(std::string_view name) {
  auto found = state_->variables.find(name);
  return found == state_->variables.end() ? std::span<std::byte>()
                                          : state_->bytes(found->second->gradient_buffer());
}

std::span<std::byte> Session::input(std::string_view name, uint32_t slot) {
  const auto *inputs = state_->plan->get().inputs();
  for (uint32_t i = 0; inputs && i < inputs->size(); ++i)
    if (inputs->Get(i)->name()->string_view() == name && slot < inputs->Get(i)->slots()->size())
      return state_->bytes(inputs->Get(i)->slots()->Get(slot));
  return {};
}

Status Session::runOnce() { return state_->run(state_->once, 0); }
Status Session::runMicroBatch(uint32_t slot) { return state_->run(state_->microBatch, slot); }
Status Session::finishStep() { return state_->run(state_->step, 0); }

Status Session::evaluateMicroBatch(uint32_t slot) {
  if (!state_->plan->get().evaluate())
    return badInput("the plan has no commands for evaluation; compile it with --evaluate");
  return state_->run(state_->evaluate, slot);
}

Metrics Session::metrics() const {
  const gc::plan::Plan &plan = state_->plan->get();
  return {state_->scalar(plan.loss()), state_->scalar(plan.correct())};
}

Metrics Session::evaluateMetrics() const {
  const gc::plan::Plan &plan = state_->plan->get();
  return {state_->scalar(plan.evaluate_loss()), state_->scalar(plan.evaluate_correct())};
}

MemoryMeasurement Session::memory() {
  MemoryMeasurement &m = state_->memory;
  ProcessMemory now = readProcessMemory();
  // Without a reset the mark may be older than the arena; then only our own samples count.
  m.rssPeakBytes = std::max({m.rssPeakBytes, now.resident, state_->peakReset ? now.peak : 0});
  m.arenaBytes = state_->arena->residentBytes();
  m.measuredPeakBytes = m.rssPeakBytes > m.rssBeforeBytes ? m.rssPeakBytes - m.rssBeforeBytes : 0;
  return m;
}

uint64_t Session::allocationsInStep() const { return state_->device->allocations().heap; }
uint64_t Session::transientsInStep() const { return state_->device->allocations().transients; }

double Session::secondsSinceBegin() const { return seconds() - state_->began; }

std::vector<CommandProfile> Session::profile() const {
  std::vector<CommandProfile> all;
  for (const List *list : {&state_->once, &state_->microBatch, &state_->step, &state_->evaluate})
    for (size_t i = 0; i < list->profile.size(); ++i) {
      all.push_back(list->profile[i]);
      all.back().medianSeconds = list->median(i);
    }
  return all;
}

std::vector<std::string> Session::describe(std::string_view name) const {
  std::vector<std::string> lines;
  for (const List *list : {&state_->once, &state_->microBatch, &state_->step, &state_->evaluate})
    if (name == list->name && !list->buffers.empty())
      for (size_t i = 0; i < list->buffers[0]->size(); ++i)
        lines.push_back(list->buffers[0]->describe(i));
  return lines;
}

} // namespace gc::runtime
