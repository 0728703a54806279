// Everything else that a device does: kernels, fill, copy, slots, and refusing what is wrong.
#include "runtime/hal/conformance/Runner.h"

#include <algorithm>

namespace gc::runtime::conformance {
namespace {

using gc::plan::BufferKind_Input;

std::string dispatchItems(const std::string &device, int threads, int64_t items, uint64_t grain) {
  SmallPlan plan;
  uint32_t in = plan.activation("in", {items}), out = plan.activation("out", {items});
  plan.kernels(kernelObject(), {"conformance_affine"});
  plan.dispatch(0, {in, out}, static_cast<uint64_t>(items), grain);
  Runner runner;
  if (Status ready = runner.prepare(plan, device, threads); !ready)
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

std::string fillAndCopy(const std::string &device, int threads) {
  SmallPlan plan;
  const int64_t n = 50000; // more than one thread's share of bytes
  uint32_t a = plan.activation("a", {n}), b = plan.activation("b", {n});
  plan.fill(a, 0);
  plan.copy({b, 10}, {a, 5}, 4 * (n - 10));
  Runner runner;
  if (Status ready = runner.prepare(plan, device, threads); !ready)
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

SmallPlan slotPlan(uint32_t &first, uint32_t &second, uint32_t &out) {
  SmallPlan plan;
  first = plan.buffer("x.0", BufferKind_Input, {64});
  second = plan.buffer("x.1", BufferKind_Input, {64});
  out = plan.activation("out", {64});
  plan.input("x", {first, second});
  plan.copy({first, 0}, {out, 0}, 256);
  return plan;
}

std::string slots(const std::string &device, int threads) {
  for (uint32_t slot : {0u, 1u}) {
    uint32_t first, second, out;
    SmallPlan plan = slotPlan(first, second, out);
    Runner runner;
    if (Status ready = runner.prepare(plan, device, threads, slot); !ready)
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
std::string refuses(SmallPlan &plan, const std::string &device, int threads, uint32_t slot,
                    const char *text) {
  Runner runner;
  Status ready = runner.prepare(plan, device, threads, slot);
  if (ready)
    return std::string("was accepted; an error about '") + text + "' was due";
  if (ready.error().message.find(text) == std::string::npos)
    return "unexpected message: " + ready.error().message;
  return "";
}

std::string unknownSlot(const std::string &device, int threads) {
  uint32_t first, second, out;
  SmallPlan plan = slotPlan(first, second, out);
  return refuses(plan, device, threads, 2, "slot 2");
}

std::string unbound(const std::string &device, int threads) {
  auto created = hal::createDevice(device, {.threads = threads});
  if (!created)
    return created.error().message;
  SmallPlan small;
  uint32_t a = small.activation("a", {16});
  small.fill(a, 1);
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
bool computes(const std::string &device) {
  auto created = hal::createDevice(device);
  return created && (*created)->executes();
}

std::string smallWorkspace(const std::string &device, int threads) {
  if (!computes(device))
    return "";
  cpu::ConvolutionSpec spec;
  spec.batch = 1, spec.inH = spec.inW = spec.outH = spec.outW = 8, spec.inC = spec.outC = 16;
  spec.kernelH = spec.kernelW = 3, spec.padH = spec.padW = 1;
  SmallPlan plan;
  uint32_t src = plan.activation("src", {1, 8, 8, 16}), dst = plan.activation("dst", {1, 8, 8, 16});
  uint32_t weights = plan.activation("weights", {16, 3, 3, 16});
  plan.convolution(spec, src, weights, dst, -1, -1, plan.workspace(64));
  return refuses(plan, device, threads, 0, "compile it again");
}

std::string missingSymbol(const std::string &device, int threads) {
  if (!computes(device))
    return "";
  SmallPlan plan;
  uint32_t a = plan.activation("a", {16});
  plan.kernels(kernelObject(), {"no_such_kernel"});
  plan.dispatch(0, {a, a}, 16, 1);
  return refuses(plan, device, threads, 0, "no_such_kernel");
}

std::string corruptKernels(const std::string &device, int threads) {
  if (!computes(device))
    return "";
  SmallPlan plan;
  uint32_t a = plan.activation("a", {16});
  std::vector<uint8_t> garbage(100, 7);
  plan.kernels(garbage, {"conformance_affine"});
  plan.dispatch(0, {a, a}, 16, 1);
  return refuses(plan, device, threads, 0, "kernels");
}

std::string otherTarget(const std::string &device, int threads) {
  if (!computes(device))
    return "";
  SmallPlan plan;
  plan.fill(plan.activation("a", {16}), 0);
  plan.device = "toaster";
  if (std::string problem = refuses(plan, device, threads, 0, "toaster"); !problem.empty())
    return problem;
  SmallPlan old;
  old.fill(old.activation("a", {16}), 0);
  old.libraryVersion = "oneDNN 0.0.1";
  return refuses(old, device, threads, 0, "oneDNN 0.0.1");
}

std::string residency(const std::string &device, int threads) {
  auto created = hal::createDevice(device, {.threads = threads});
  if (!created)
    return created.error().message;
  SmallPlan small;
  small.fill(small.activation("a", {5000000}), 1);
  auto plan = PlanFile::fromMemory(small.finish());
  if (!plan)
    return plan.error().message;
  auto arena = (*created)->createArena(plan->get());
  if (!arena)
    return arena.error().message;
  uint64_t resident = (*arena)->residentBytes(), bytes = (*arena)->size();
  if (!(*created)->executes())
    return resident == 0 ? "" : "a null arena costs memory";
  return resident >= bytes && resident < bytes + 4096
             ? ""
             : std::to_string(resident) + " bytes are resident of " + std::to_string(bytes);
}

} // namespace

void addDeviceCases(std::vector<Case> &cases) {
  for (auto [name, items, grain] : {std::tuple<const char *, int64_t, uint64_t>{"one", 1, 1},
                                    {"odd", 1001, 7},
                                    {"large-grain", 100, 1000},
                                    {"no-grain", 4097, 0}})
    cases.push_back({std::string("dispatch.") + name, [=](const std::string &device, int threads) {
                       return dispatchItems(device, threads, items, grain);
                     }});
  cases.push_back({"memory.fill-and-copy", fillAndCopy});
  cases.push_back({"memory.slots", slots});
  cases.push_back({"memory.residency", residency});
  cases.push_back({"errors.unknown-slot", unknownSlot});
  cases.push_back({"errors.unbound", unbound});
  cases.push_back({"errors.small-workspace", smallWorkspace});
  cases.push_back({"errors.missing-symbol", missingSymbol});
  cases.push_back({"errors.corrupt-kernels", corruptKernels});
  cases.push_back({"errors.other-target", otherTarget});
}

} // namespace gc::runtime::conformance
