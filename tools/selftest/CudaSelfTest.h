// gc-run --selftest --device=cuda: what the first owner of a GPU runs.
#ifndef GC_TOOLS_SELFTEST_CUDASELFTEST_H
#define GC_TOOLS_SELFTEST_CUDASELFTEST_H

#include <string>
#include <vector>

struct CudaSelfTestOptions {
  std::string device = "cuda";       // "cuda:1"
  int threads = 0;                   // of the cpu device, which results are compared with
  bool quick = false;                // smaller networks
  std::vector<std::string> sections; // names; empty: all
  std::vector<std::string> only;     // cases whose names begin so; empty: all
  double limitSeconds = 300;         // for each case
  std::string report = "gc-selftest-cuda.json";
};

/// The names that `sections` may hold, in order.
const std::vector<std::string> &cudaSelfTestSections();

/// Prints every case and a verdict with the next steps, and writes the report; until then each case
/// is appended to the file of that name and ".progress". The exit code: 0 all passed (or were
/// skipped for a reason that is told), 1 something failed, 2 the report cannot be written, 4 no
/// such device.
int cudaSelfTest(const CudaSelfTestOptions &options);

#endif // GC_TOOLS_SELFTEST_CUDASELFTEST_H
