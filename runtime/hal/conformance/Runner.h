// One plan on one device, run once: what most cases need. Private to the suite.
#ifndef GC_RUNTIME_HAL_CONFORMANCE_RUNNER_H
#define GC_RUNTIME_HAL_CONFORMANCE_RUNNER_H

#include "runtime/hal/Device.h"
#include "runtime/hal/conformance/Conformance.h"
#include "runtime/hal/conformance/Lowering.h"

namespace gc::runtime::conformance {

/// The bytes of the test kernel's shared object.
std::span<const uint8_t> kernelObject();

/// Floats in [-1, 1), the same for the same seed.
std::vector<float> randomFloats(size_t n, uint32_t seed);

/// What a case runs on.
struct Setup {
  std::string device;
  int threads = 0;
  const Lowering &lowering;
};

class Runner {
public:
  /// Verifies, loads, records the micro_batch list for `slot`, makes the arena and binds. The
  /// plan's target is the lowering's unless the plan is `asIs`.
  Status prepare(SmallPlan &plan, const Setup &setup, uint32_t slot = 0, bool asIs = false);
  /// A copy that fails makes the next run fail; what was not read is not a number.
  void write(uint32_t buffer, const std::vector<float> &values);
  std::vector<float> read(uint32_t buffer, size_t n);
  Status run(std::span<hal::CommandTime> times = {});
  bool executes() const { return device_->executes(); }
  hal::Device &device() { return *device_; }
  hal::CommandBuffer &commands() { return *commands_; }

private:
  std::unique_ptr<PlanFile> plan_;
  std::unique_ptr<hal::Device> device_;
  std::unique_ptr<hal::Executable> executable_;
  std::unique_ptr<hal::Arena> arena_;
  std::unique_ptr<hal::CommandBuffer> commands_;
  std::unique_ptr<hal::Event> event_;
  Status outcome_; ///< of copies to and from the arena
};

/// Empty when close; `terms` is how many products each number sums up. The tolerance is rounding's:
/// a few ulps of the largest partial sum, growing with the square root of the terms.
std::string compare(const std::vector<float> &got, const std::vector<float> &want, int64_t terms,
                    const char *what);

/// A case: empty text is success.
struct Case {
  std::string name;
  std::function<std::string(const Setup &setup)> run;
};
void addConvolutionCases(std::vector<Case> &cases);
void addMatMulCases(std::vector<Case> &cases);
void addDeviceCases(std::vector<Case> &cases);

} // namespace gc::runtime::conformance

#endif // GC_RUNTIME_HAL_CONFORMANCE_RUNNER_H
