#include "tools/selftest/PlanStepper.h"

#include "compiler/PlanAccess.h"
#include "runtime/hal/Registry.h"
#include "runtime/weights/Initializer.h"
#include "runtime/weights/VariableStore.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace gc::runtime;

Result<std::unique_ptr<PlanStepper>> PlanStepper::create(PlanFile plan, const std::string &device,
                                                         int threads) {
  std::unique_ptr<PlanStepper> stepper(new PlanStepper(std::move(plan)));
  auto take = [](auto made, auto &place) -> Status {
    if (!made)
      return made.error();
    place = std::move(*made);
    return {};
  };
  PlanStepper &s = *stepper;
  s.labelBuffers();
  if (Status done = s.findOps(); !done)
    return done.error();
  if (Status done = take(hal::createDevice(device, {.threads = threads}), s.device); !done)
    return done.error();
  if (Status done = take(s.device->load(s.plan()), s.executable); !done)
    return done.error();
  if (Status done = take(s.device->createArena(s.plan()), s.arena); !done)
    return done.error();
  if (Status done = take(s.device->createEvent(), s.event); !done)
    return done.error();
  return stepper;
}

void PlanStepper::labelBuffers() {
  std::map<std::string, int> seen;
  for (const gc::plan::Buffer *one : *plan().buffers()) {
    std::string text = fmt::format("{}, {} bytes", one->name()->str(), one->bytes());
    int count = ++seen[text];
    labels.push_back(count == 1 ? text : fmt::format("{} #{}", text, count));
  }
}

Status PlanStepper::findOps() {
  std::map<std::string, int> seen;
  std::string last;
  for (const gc::plan::Command *command : *plan().micro_batch()->commands()) {
    std::string name = command->name()->str() + (command->recomputed() ? " again" : "");
    if (all.empty() || name != last) {
      last = name;
      int count = ++seen[name];
      all.push_back({count == 1 ? name : fmt::format("{} #{}", name, count), {}, {}, {}});
    }
    Op &op = all.back();
    op.commands.push_back(command);
    op.usesLibrary |= command->operation_type() == gc::plan::Operation_GraphCall;
    std::string error;
    for (const gc::PlanAccess &access : gc::accessesOf(plan(), *command, error)) {
      if (access.isWorkspace || buffer(access.buffer).kind() == gc::plan::BufferKind_Workspace)
        continue;
      auto addOnce = [&](std::vector<uint32_t> &list) {
        if (std::find(list.begin(), list.end(), access.buffer) == list.end())
          list.push_back(access.buffer);
      };
      if (access.reads)
        addOnce(op.reads);
      if (access.writes)
        addOnce(op.writes);
    }
    if (!error.empty())
      return runFailed(fmt::format("command '{}' {}", name, error));
  }
  return {};
}

Result<std::vector<std::byte>> PlanStepper::read(uint32_t index) {
  std::vector<std::byte> bytes(buffer(index).bytes());
  if (Status done = arena->read(buffer(index).offset(), bytes); !done)
    return done.error();
  return bytes;
}

Status PlanStepper::write(uint32_t index, std::span<const std::byte> bytes) {
  return arena->write(buffer(index).offset(), bytes);
}

Result<std::byte *> PlanStepper::map(uint32_t index) {
  Result<std::vector<std::byte>> bytes = read(index);
  if (!bytes)
    return bytes.error();
  return (mapped[index] = std::move(*bytes)).data();
}

Result<void> PlanStepper::unmap(uint32_t index, bool written) {
  Status done = written ? write(index, mapped[index]) : Status();
  mapped.erase(index);
  return done;
}

Status PlanStepper::begin(uint64_t seed) {
  // The first binding tries the graphs of a library and clears what they wrote: it must come before
  // there is anything to lose.
  auto tried = device->record({&plan(), plan().micro_batch(), executable.get(), 0});
  if (!tried)
    return tried.error();
  if (Status done = (*tried)->bind(*arena); !done)
    return done;
  Result<VariableStore> store = VariableStore::create(plan(), *this);
  if (!store)
    return store.error();
  if (Status done = store->initialize(seed); !done)
    return done;
  for (const gc::plan::Input *input : *plan().inputs()) {
    uint32_t index = input->slots()->Get(0);
    if (buffer(index).dtype() != gc::plan::DType_F32)
      continue; // labels: class 0, as the arena is zero
    std::vector<float> values(buffer(index).bytes() / sizeof(float));
    drawInitialValues({InitialDistribution::Normal, 0, 1, 0, 0}, seed, input->name()->str(), 0,
                      values.size(), values.data());
    if (Status done = write(index, std::as_bytes(std::span(values))); !done)
      return done;
  }
  return execute(plan().once(), {}, 1, nullptr);
}

Status PlanStepper::execute(const gc::plan::CommandList *commands,
                            std::span<hal::CommandTime> times, int repetitions, double *fastest) {
  auto recorded = device->record({&plan(), commands, executable.get(), 0});
  if (!recorded)
    return recorded.error();
  if (Status done = (*recorded)->bind(*arena); !done)
    return done;
  for (int i = 0; i < repetitions; ++i) {
    if (Status done = device->submit(**recorded, *event, {.times = times}); !done)
      return done;
    if (Status done = event->wait(); !done)
      return done;
    double seconds = 0;
    for (const hal::CommandTime &time : times)
      seconds += time.end - time.begin;
    if (fastest && (i == 0 || seconds < *fastest))
      *fastest = seconds;
  }
  return {};
}

Result<double> PlanStepper::run(const Op &op, int times) {
  gc::plan::CommandListT list;
  for (const gc::plan::Command *command : op.commands)
    list.commands.emplace_back(command->UnPack());
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(gc::plan::CommandList::Pack(builder, &list));
  std::vector<hal::CommandTime> each(op.commands.size());
  double fastest = 0;
  if (Status done = execute(flatbuffers::GetRoot<gc::plan::CommandList>(builder.GetBufferPointer()),
                            each, times, &fastest);
      !done)
    return done.error();
  return fastest;
}
