// Each call of the driver fails in turn: always an error of the device's class that names the call,
// no hang, and nothing left behind.
#include "test/runtime/cuda/RunProgram.h"

#include <map>
#include <set>

using namespace gc::test;

namespace {

/// Failing to give something back changes nothing, unless more calls follow, which then fail
/// instead.
const std::set<std::string> kReleases = {"cuDevicePrimaryCtxRelease",
                                         "cuMemFree",
                                         "cuMemFreeHost",
                                         "cuStreamDestroy",
                                         "cuGraphDestroy",
                                         "cuGraphExecDestroy",
                                         "cuEventDestroy",
                                         "cuModuleUnload",
                                         "cuCtxSynchronize"};
/// These are also called on the way out, and by a question about memory that has an older answer.
const std::set<std::string> kAlsoLate = {"cuCtxSetCurrent", "cuMemGetInfo"};

/// What fails while a list is captured is done without a graph, if the context still works.
const std::set<std::string> kInCaptures = {"cuLaunchKernel", "cuGraphInstantiate"};

/// What a call may well answer; the first is the usual one.
std::vector<const char *> resultsOf(const std::string &call) {
  if (call == "cuMemAlloc" || call == "cuMemHostAlloc" || call == "cuGraphInstantiate")
    return {"CUDA_ERROR_OUT_OF_MEMORY"};
  if (call == "cuModuleLoadDataEx")
    return {"CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_OUT_OF_MEMORY"};
  if (call == "cuEventSynchronize" || call == "cuStreamSynchronize")
    return {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_ECC_UNCORRECTABLE",
            "CUDA_ERROR_LAUNCH_FAILED"};
  if (call == "cuLaunchKernel" || call == "cuGraphLaunch")
    return {"CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"};
  return {"CUDA_ERROR_UNKNOWN"};
}

std::map<std::string, int> callsOf(const std::string &arguments) {
  std::string file = temporary("calls");
  Outcome outcome = runProgram("GC_EMULATOR_CALLS=" + file, "gc-cuda-workload " + arguments);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  std::map<std::string, int> calls;
  std::istringstream lines(contents(file));
  std::string name;
  for (int count; lines >> name >> count;)
    if (count > 0)
      calls[name] = count;
  std::remove(file.c_str());
  return calls;
}

class CudaFaults : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(CudaFaults, EveryCallFailsInTurn) {
  const std::string arguments = GetParam(), leaks = temporary("leaks");
  const std::string computed = runProgram("", "gc-cuda-workload " + arguments).output;
  size_t injected = 0, refused = 0;
  for (const auto &[call, count] : callsOf(arguments))
    for (const char *result : resultsOf(call))
      for (int turn = 1; turn <= count; ++turn) {
        // Calls repeat from step to step: the first ones and the last one stand for the others.
        if (turn > 8 && turn < count)
          continue;
        std::string what = call + ":" + std::to_string(turn) + "=" + result;
        Outcome outcome = runProgram("GC_EMULATOR_FAIL=" + what + " GC_EMULATOR_LEAKS=" + leaks,
                                     "gc-cuda-workload " + arguments);
        ++injected;
        EXPECT_EQ(contents(leaks), "") << what;
        if (outcome.exitCode == 0 &&
            (kReleases.count(call) || kAlsoLate.count(call) || kInCaptures.count(call))) {
          size_t note = outcome.output.find("note: commands are submitted one by one");
          EXPECT_EQ(note != std::string::npos, kInCaptures.count(call) > 0) << what;
          EXPECT_EQ(outcome.output.substr(0, note), computed) << what;
          continue;
        }
        ++refused;
        ASSERT_EQ(outcome.exitCode, 4) << what << ": " << outcome.output;
        EXPECT_TRUE(kReleases.count(call) || contains(outcome.output, call))
            << what << ": " << outcome.output;
        EXPECT_TRUE(contains(outcome.output, result)) << what << ": " << outcome.output;
      }
  EXPECT_GT(injected, 100u);
  EXPECT_GT(refused, injected / 2);
  std::remove(leaks.c_str());
}

INSTANTIATE_TEST_SUITE_P(Modes, CudaFaults,
                         testing::Values("items=100 properties", "items=100 profile"),
                         [](const auto &info) {
                           return info.index == 0 ? std::string("Graph") : std::string("OneByOne");
                         });
