// Everything else that a device does: kernels, fill, copy, slots, and refusing what is wrong.
#include "runtime/hal/Registry.h"
#include "runtime/hal/conformance/Runner.h"

#include <algorithm>

namespace gc::runtime::conformance {
namespace {

using gc::plan::BufferKind_Input;

std::string dispatchItems(const Setup &setup, int64_t items, uint64_t grain) {
  SmallPlan plan;
  uint32_t in = plan.activation("in", {items}), out = plan.activation("out", {items});
  setup.lowering.affine(plan, in, out, items, grain);
  Runner runner;
  if (Status ready = runner.prepare(plan, setup); !ready)
    return ready.error().message;
  auto values = randomFloats(static_cast<size_t>(items), 7);
  runner.write(in, values);
  if (Status done = runner.run(); !done)
    return done.error().message;
  if (!runner.executes())
    return "";
  auto got = runner.read(out, values.size());
  for (size_t i = 0; i < values.size(); ++i)
    if (got[i] != 2.0f * values[i] + static_cast<float>(i))
      return "item " + std::to_string(i) + " is " + std::to_string(got[i]);
  return "";
}

std::string fillAndCopy(const Setup &setup) {
  SmallPlan plan;
  const int64_t n = 50000; // more than one thread's share of bytes
  uint32_t a = plan.activation("a", {n}), b = plan.activation("b", {n});
  plan.fill(a, 0);
  plan.copy({b, 10}, {a, 5}, 4 * (n - 10));
  Runner runner;
  if (Status ready = runner.prepare(plan, setup); !ready)
    return ready.error().message;
  auto values = randomFloats(n, 8);
  runner.write(a, values);
  runner.write(b, values);
  if (Status done = runner.run(); !done)
    return done.error().message;
  if (!runner.executes())
    return "";
  auto got = runner.read(a, n);
  for (size_t i = 0; i < got.size(); ++i) {
    float want = i >= 5 && i < n - 5 ? values[i + 5] : 0.0f;
    if (got[i] != want)
      return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected " +
             std::to_string(want);
  }
  return "";
}

/// A copy within a buffer, both ways, moves bytes as if there were a copy in between.
std::string overlappingCopy(const Setup &setup) {
  const int64_t n = 1000, by = 37;
  for (bool up : {false, true}) {
    SmallPlan plan;
    uint32_t a = plan.activation("a", {n});
    gc::plan::View low(a, 0), high(a, by);
    plan.copy(up ? low : high, up ? high : low, 4 * (n - by));
    Runner runner;
    if (Status ready = runner.prepare(plan, setup); !ready)
      return ready.error().message;
    auto values = randomFloats(n, 9);
    runner.write(a, values);
    if (Status done = runner.run(); !done)
      return done.error().message;
    if (!runner.executes())
      return "";
    if (up)
      std::copy_backward(values.begin(), values.end() - by, values.end());
    else
      std::copy(values.begin() + by, values.end(), values.begin());
    if (runner.read(a, n) != values)
      return std::string("bytes were lost on the way ") + (up ? "up" : "down");
  }
  return "";
}

/// Times one by one give the same numbers as without, and lie one after the other.
std::string times(const Setup &setup) {
  const int64_t n = 1001;
  SmallPlan plan;
  uint32_t a = plan.activation("a", {n}), b = plan.activation("b", {n}),
           c = plan.activation("c", {n});
  plan.fill(b, 0);
  setup.lowering.affine(plan, a, b, n, 1);
  plan.copy({b, 0}, {c, 0}, 4 * n);
  Runner runner;
  if (Status ready = runner.prepare(plan, setup); !ready)
    return ready.error().message;
  runner.write(a, randomFloats(n, 7));
  if (Status done = runner.run(); !done)
    return done.error().message;
  auto want = runner.read(c, n);
  runner.write(c, std::vector<float>(n, 0.0f));
  std::vector<hal::CommandTime> measured(3);
  if (Status done = runner.run(measured); !done)
    return done.error().message;
  if (!runner.executes())
    return "";
  if (runner.read(c, n) != want)
    return "commands one by one compute something else than together";
  for (size_t i = 0; i < measured.size(); ++i)
    if (measured[i].end < measured[i].begin || (i && measured[i].begin < measured[i - 1].begin))
      return "the times of command " + std::to_string(i) + " do not follow those before";
  return "";
}

/// Two slots, uploaded one while the other is read; results come back with the event.
std::string uploads(const Setup &setup) {
  const int64_t n = 5000;
  SmallPlan small;
  uint32_t x0 = small.buffer("x.0", BufferKind_Input, {n}),
           x1 = small.buffer("x.1", BufferKind_Input, {n});
  uint32_t out = small.activation("out", {n});
  small.input("x", {x0, x1});
  setup.lowering.affine(small, x0, out, n, 1);
  setup.lowering.target(small);
  auto plan = PlanFile::fromMemory(small.finish());
  if (!plan)
    return plan.error().message;
  auto made = hal::createDevice(setup.device, {.threads = setup.threads});
  if (!made)
    return made.error().message;
  hal::Device &device = **made;
  auto executable = device.load(plan->get());
  auto arena = device.createArena(plan->get());
  auto input = device.createStaging(2 * 4 * n), output = device.createStaging(4 * n);
  if (!executable || !arena || !input || !output)
    return "cannot load the plan or make its memory";
  std::unique_ptr<hal::CommandBuffer> commands[2];
  std::unique_ptr<hal::Event> uploaded[2], done[2];
  for (uint32_t slot : {0u, 1u}) {
    auto recorded =
        device.record({&plan->get(), plan->get().micro_batch(), executable->get(), slot});
    auto first = device.createEvent(), second = device.createEvent();
    if (!recorded || !first || !second)
      return "cannot record the plan";
    commands[slot] = std::move(*recorded);
    uploaded[slot] = std::move(*first);
    done[slot] = std::move(*second);
    if (Status bound = commands[slot]->bind(**arena); !bound)
      return bound.error().message;
  }
  auto staged = [&](uint32_t slot) { return (*input)->bytes().subspan(4 * n * slot, 4 * n); };
  auto fill = [&](uint32_t slot, uint32_t round) {
    auto values = randomFloats(n, round);
    std::copy_n(std::as_bytes(std::span(values)).begin(), 4 * n, staged(slot).begin());
  };
  auto upload = [&](uint32_t slot) {
    return device.upload(**arena, plan->get().buffers()->Get(slot ? x1 : x0)->offset(),
                         staged(slot), done[slot].get(), *uploaded[slot]);
  };
  const hal::Readback result{plan->get().buffers()->Get(out)->offset(), (*output)->bytes()};
  fill(0, 0);
  if (Status started = upload(0); !started)
    return started.error().message;
  for (uint32_t round = 0; round < 6; ++round) {
    uint32_t slot = round % 2, other = 1 - slot;
    if (Status started =
            device.submit(*commands[slot], *done[slot],
                          {.after = uploaded[slot].get(), .results = std::span(&result, 1)});
        !started)
      return started.error().message;
    fill(other, round + 1);
    if (Status started = upload(other); !started)
      return started.error().message;
    if (Status finished = done[slot]->wait(); !finished)
      return finished.error().message;
    if (!device.executes())
      continue;
    auto values = randomFloats(n, round);
    const float *got = reinterpret_cast<const float *>((*output)->bytes().data());
    for (size_t i = 0; i < values.size(); ++i)
      if (got[i] != 2.0f * values[i] + static_cast<float>(i))
        return "item " + std::to_string(i) + " of round " + std::to_string(round) + " is " +
               std::to_string(got[i]);
  }
  Status last = uploaded[0]->wait();
  return last ? "" : last.error().message;
}

SmallPlan slotPlan(uint32_t &first, uint32_t &second, uint32_t &out) {
  SmallPlan plan;
  first = plan.buffer("x.0", BufferKind_Input, {64});
  second = plan.buffer("x.1", BufferKind_Input, {64});
  out = plan.activation("out", {64});
  plan.input("x", {first, second});
  plan.copy({first, 0}, {out, 0}, 256);
  return plan;
}

std::string slots(const Setup &setup) {
  for (uint32_t slot : {0u, 1u}) {
    uint32_t first, second, out;
    SmallPlan plan = slotPlan(first, second, out);
    Runner runner;
    if (Status ready = runner.prepare(plan, setup, slot); !ready)
      return ready.error().message;
    runner.write(first, std::vector<float>(64, 1.0f));
    runner.write(second, std::vector<float>(64, 2.0f));
    if (Status done = runner.run(); !done)
      return done.error().message;
    if (runner.executes() && runner.read(out, 64) != std::vector<float>(64, slot ? 2.0f : 1.0f))
      return "slot " + std::to_string(slot) + " read another slot's data";
  }
  return "";
}

/// `plan` must be refused, with a message that has `text` in it.
std::string refuses(SmallPlan &plan, const Setup &setup, uint32_t slot, const std::string &text,
                    bool asIs = false) {
  Runner runner;
  Status ready = runner.prepare(plan, setup, slot, asIs);
  if (ready)
    return "was accepted; an error about '" + text + "' was due";
  if (ready.error().message.find(text) == std::string::npos)
    return "unexpected message: " + ready.error().message;
  return "";
}

std::string unknownSlot(const Setup &setup) {
  uint32_t first, second, out;
  SmallPlan plan = slotPlan(first, second, out);
  return refuses(plan, setup, 2, "slot 2");
}

std::string unbound(const Setup &setup) {
  auto created = hal::createDevice(setup.device, {.threads = setup.threads});
  if (!created)
    return created.error().message;
  SmallPlan small;
  uint32_t a = small.activation("a", {16});
  small.fill(a, 1);
  setup.lowering.target(small);
  auto plan = PlanFile::fromMemory(small.finish());
  if (!plan)
    return plan.error().message;
  auto commands = (*created)->record({&plan->get(), plan->get().micro_batch(), nullptr, 0});
  if (!commands)
    return commands.error().message;
  auto event = (*created)->createEvent();
  if (!event)
    return event.error().message;
  if ((*created)->submit(**commands, **event))
    return "a command buffer without memory was executed";
  // And a list of times that is too short.
  auto arena = (*created)->createArena(plan->get());
  if (!arena)
    return arena.error().message;
  if (Status bound = (*commands)->bind(**arena); !bound)
    return bound.error().message;
  std::vector<hal::CommandTime> times(2);
  if ((*created)->submit(**commands, **event, {.times = times}))
    return "two times were accepted for one command";
  return "";
}

/// Only for devices that execute: null needs neither code nor workspace nor the target.
bool computes(const Setup &setup) {
  auto created = hal::createDevice(setup.device);
  return created && (*created)->executes();
}

std::string smallWorkspace(const Setup &setup) {
  if (!computes(setup))
    return "";
  // Libraries that size their workspaces when they record; others have theirs in the plan's graphs.
  if (!dynamic_cast<const CpuLowering *>(&setup.lowering))
    return "";
  cpu::ConvolutionSpec spec;
  spec.batch = 1, spec.in_h = spec.in_w = spec.out_h = spec.out_w = 8, spec.in_c = spec.out_c = 16;
  spec.kernel_h = spec.kernel_w = 3, spec.pad_h = spec.pad_w = 1;
  SmallPlan plan;
  uint32_t src = plan.activation("src", {1, 8, 8, 16}), dst = plan.activation("dst", {1, 8, 8, 16});
  uint32_t weights = plan.activation("weights", {16, 3, 3, 16});
  plan.convolution(spec, src, weights, dst, -1, -1, plan.workspace(64));
  return refuses(plan, setup, 0, "compile it again");
}

std::string missingSymbol(const Setup &setup) {
  if (!computes(setup))
    return "";
  SmallPlan plan;
  uint32_t a = plan.activation("a", {16});
  setup.lowering.affine(plan, a, a, 16, 1, "no_such_kernel");
  return refuses(plan, setup, 0, "no_such_kernel");
}

std::string corruptKernels(const Setup &setup) {
  if (!computes(setup))
    return "";
  SmallPlan plan;
  uint32_t a = plan.activation("a", {16});
  setup.lowering.damagedAffine(plan, a, a);
  return refuses(plan, setup, 0, "kernels");
}

std::string otherTarget(const Setup &setup) {
  if (!computes(setup))
    return "";
  SmallPlan plan;
  plan.fill(plan.activation("a", {16}), 0);
  plan.device = "toaster";
  if (std::string problem = refuses(plan, setup, 0, "toaster", /*asIs=*/true); !problem.empty())
    return problem;
  SmallPlan other;
  setup.lowering.target(other);
  std::string text = setup.lowering.otherMachine(other);
  return refuses(other, setup, 0, text, /*asIs=*/true);
}

std::string residency(const Setup &setup) {
  auto created = hal::createDevice(setup.device, {.threads = setup.threads});
  if (!created)
    return created.error().message;
  SmallPlan small;
  small.fill(small.activation("a", {5000000}), 1);
  setup.lowering.target(small);
  auto plan = PlanFile::fromMemory(small.finish());
  if (!plan)
    return plan.error().message;
  auto arena = (*created)->createArena(plan->get());
  if (!arena)
    return arena.error().message;
  uint64_t resident = (*arena)->residentBytes(), bytes = (*arena)->size();
  if (!(*created)->executes())
    return resident == 0 ? "" : "a null arena costs memory";
  // To the page; a GPU's are large, and its driver may have some in reserve.
  uint64_t slack = (*arena)->hostData() ? 4096 : 4 << 20;
  return resident >= bytes && resident < bytes + slack
             ? ""
             : std::to_string(resident) + " bytes are resident of " + std::to_string(bytes);
}

} // namespace

void addDeviceCases(std::vector<Case> &cases) {
  for (auto [name, items, grain] : {std::tuple<const char *, int64_t, uint64_t>{"one", 1, 1},
                                    {"odd", 1001, 7},
                                    {"large-grain", 100, 1000},
                                    {"no-grain", 4097, 0}})
    cases.push_back({std::string("dispatch.") + name,
                     [=](const Setup &setup) { return dispatchItems(setup, items, grain); }});
  cases.push_back({"memory.fill-and-copy", fillAndCopy});
  cases.push_back({"memory.overlapping-copy", overlappingCopy});
  cases.push_back({"memory.slots", slots});
  cases.push_back({"memory.uploads", uploads});
  cases.push_back({"dispatch.times", times});
  cases.push_back({"memory.residency", residency});
  cases.push_back({"errors.unknown-slot", unknownSlot});
  cases.push_back({"errors.unbound", unbound});
  cases.push_back({"errors.small-workspace", smallWorkspace});
  cases.push_back({"errors.missing-symbol", missingSymbol});
  cases.push_back({"errors.corrupt-kernels", corruptKernels});
  cases.push_back({"errors.other-target", otherTarget});
}

} // namespace gc::runtime::conformance
