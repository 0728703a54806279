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

/// Names of all cases, in order; "convolution.…", "matmul.…", "dispatch.…", "memory.…", "errors.…".
std::vector<std::string> caseNames();

/// Runs one case on a device of the registry. An unknown case fails.
CaseResult runCase(const std::string &name, const std::string &device, int threads = 0);

/// Runs every case.
std::vector<CaseResult> runAll(const std::string &device, int threads = 0);

} // namespace gc::runtime::conformance

#endif // GC_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H
