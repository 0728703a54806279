// What every device must do, as cases that GoogleTest and `gc-run --selftest` both run. Devices
// that compute nothing (null) are asked for everything but the numbers.
#ifndef GC_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H
#define GC_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H

#include <string>
#include <vector>

namespace gc::runtime::conformance {

struct CaseResult {
  std::string name;
  bool passed = false;
  std::string message; ///< why not; on success what was compared
};

class Lowering;

/// Names of the cases, in order; "convolution.…", "matmul.…" (where the lowering has them),
/// "dispatch.…", "memory.…", "errors.…".
std::vector<std::string> caseNames(const Lowering &lowering);
/// With what loweringFor(device) has.
std::vector<std::string> caseNames(const std::string &device);

/// Runs one case on a device of the registry. An unknown case fails. Without a lowering: what
/// loweringFor(device) has.
CaseResult runCase(const std::string &name, const std::string &device, int threads = 0,
                   const Lowering *lowering = nullptr);

} // namespace gc::runtime::conformance

#endif // GC_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H
