#include "runtime/hal/conformance/Runner.h"

#include "runtime/hal/Registry.h"
#include <algorithm>
#include <cmath>

// The kernel's shared object is part of this library, so that the suite needs no file beside it.
__asm__(".section .rodata\n"
        ".balign 16\n"
        "gcConformanceKernelBegin:\n"
        ".incbin \"" GC_CONFORMANCE_KERNEL "\"\n"
        "gcConformanceKernelEnd:\n"
        ".previous\n");
extern "C" __attribute__((visibility("hidden"))) const uint8_t gcConformanceKernelBegin[];
extern "C" __attribute__((visibility("hidden"))) const uint8_t gcConformanceKernelEnd[];

namespace gc::runtime::conformance {

std::span<const uint8_t> kernelObject() {
  return {gcConformanceKernelBegin,
          static_cast<size_t>(gcConformanceKernelEnd - gcConformanceKernelBegin)};
}

std::vector<float> randomFloats(size_t n, uint32_t seed) {
  std::vector<float> values(n);
  uint64_t state = seed * 2654435761u + 1;
  for (float &value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<int32_t>(state >> 32)) / 2147483648.0f;
  }
  return values;
}

Status Runner::prepare(SmallPlan &plan, const Setup &setup, uint32_t slot, bool asIs) {
  if (!asIs)
    setup.lowering.target(plan);
  auto file = PlanFile::fromMemory(plan.finish(), "conformance");
  if (!file)
    return file.error();
  plan_ = std::make_unique<PlanFile>(std::move(*file));
  auto device = hal::createDevice(setup.device, {.threads = setup.threads});
  if (!device)
    return device.error();
  device_ = std::move(*device);
  auto executable = device_->load(plan_->get());
  if (!executable)
    return executable.error();
  executable_ = std::move(*executable);
  auto commands =
      device_->record({&plan_->get(), plan_->get().micro_batch(), executable_.get(), slot});
  if (!commands)
    return commands.error();
  commands_ = std::move(*commands);
  auto arena = device_->createArena(plan_->get());
  if (!arena)
    return arena.error();
  arena_ = std::move(*arena);
  auto event = device_->createEvent();
  if (!event)
    return event.error();
  event_ = std::move(*event);
  return commands_->bind(*arena_);
}

void Runner::write(uint32_t buffer, const std::vector<float> &values) {
  Status done = arena_->write(plan_->get().buffers()->Get(buffer)->offset(),
                              std::as_bytes(std::span(values)));
  if (!done && outcome_)
    outcome_ = done;
}

std::vector<float> Runner::read(uint32_t buffer, size_t n) {
  std::vector<float> values(n);
  Status done = arena_->read(plan_->get().buffers()->Get(buffer)->offset(),
                             std::as_writable_bytes(std::span(values)));
  if (!done && outcome_)
    outcome_ = done;
  return done ? values : std::vector<float>(n, std::nanf(""));
}

Status Runner::run(std::span<hal::CommandTime> times) {
  if (!outcome_)
    return outcome_;
  if (Status started = device_->submit(*commands_, *event_, {.times = times}); !started)
    return started;
  return event_->wait();
}

std::string compare(const std::vector<float> &got, const std::vector<float> &want, int64_t terms,
                    const char *what) {
  // Operands are below 1, so a partial sum is of the order of sqrt(terms); 8 ulps of that. The erf
  // of GELU's polynomial adds a few ulps of 1.
  double tolerance = 8 * 1.2e-7 * std::sqrt(static_cast<double>(terms)) + 2e-6;
  for (size_t i = 0; i < want.size(); ++i) {
    double difference = std::abs(static_cast<double>(got[i]) - want[i]);
    if (!(difference <= tolerance * std::max(1.0, std::abs(static_cast<double>(want[i])))))
      return std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(got[i]) +
             ", expected " + std::to_string(want[i]);
  }
  return "";
}

static const std::vector<Case> &allCases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    addConvolutionCases(all);
    addMatMulCases(all);
    addDeviceCases(all);
    return all;
  }();
  return cases;
}

std::vector<std::string> caseNames(const Lowering &lowering) {
  std::vector<std::string> names;
  for (const Case &c : allCases())
    if (lowering.hasProducts() ||
        (c.name.rfind("convolution.", 0) != 0 && c.name.rfind("matmul.", 0) != 0))
      names.push_back(c.name);
  return names;
}
std::vector<std::string> caseNames(const std::string &device) {
  return caseNames(loweringFor(device));
}

CaseResult runCase(const std::string &name, const std::string &device, int threads,
                   const Lowering *lowering) {
  for (const Case &c : allCases())
    if (c.name == name) {
      std::string problem = c.run({device, threads, lowering ? *lowering : loweringFor(device)});
      return {name, problem.empty(), problem};
    }
  return {name, false, "there is no such case"};
}

} // namespace gc::runtime::conformance
