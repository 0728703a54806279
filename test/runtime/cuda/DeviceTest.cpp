// The cuda device on the emulated driver: what it computes, in which order, and what it says when
// something is missing.
#include "runtime/cuda/KernelModules.h"
#include "test/runtime/cuda/RunProgram.h"

#include <map>
#include <nlohmann/json.hpp>

using namespace gc::test;
using gc::runtime::cuda::imageFor;
using gc::runtime::cuda::ImageKind;

namespace {

const std::string kComputed = "loss 1001\nloss 1003\nloss 1005\nw 505500\n"; // 2 x + 999; Σ 6 + i

std::string whatItSays(const std::string &environment, const std::string &arguments,
                       const std::string &libraries = GC_EMULATOR) {
  Outcome outcome = runProgram(environment, "gc-cuda-workload " + arguments, libraries);
  EXPECT_EQ(outcome.exitCode, 4) << outcome.output;
  return outcome.output;
}

} // namespace

TEST(CudaDevice, ComputesInEveryOrderThatEventsAllow) {
  for (const char *order : {"first", "last", "random:1", "random:2", "random:3"})
    for (const char *mode : {"", "profile"}) {
      Outcome outcome = runProgram(std::string("GC_EMULATOR_ORDER=") + order,
                                   std::string("gc-cuda-workload ") + mode);
      EXPECT_EQ(outcome.exitCode, 0) << order << ": " << outcome.output;
      EXPECT_EQ(outcome.output.substr(0, kComputed.size()), kComputed) << order << " " << mode;
      EXPECT_TRUE(contains(outcome.output, "slots staged 1")) << outcome.output;
    }
}

TEST(CudaDevice, ProfilesCommands) {
  Outcome outcome = runProgram("", "gc-cuda-workload profile");
  EXPECT_TRUE(contains(outcome.output, "layer1.conv:conv2d: kernel conformance_affine, 3 times\n"))
      << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "y:fill: Fill, 3 times\n")) << outcome.output;
}

TEST(CudaDevice, PassesTheConformanceSuiteInOtherOrders) {
  // In the usual one ("last") CTest runs all of it. A few products are enough here.
  for (const char *order : {"first", "random:7"}) {
    Outcome outcome = runProgram(std::string("GC_EMULATOR_ORDER=") + order,
                                 "gc-cuda-conformance-tests --gtest_filter='*dispatch*:*memory*:"
                                 "*errors*:*matmul_plain:*3x3_weights_bias'");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "memory_uploads")) << outcome.output;
  }
}

TEST(CudaDevice, CopiesInputBesideTheComputation) {
  // Four uploads; three micro-batches and an empty step list each, whose graphs are captured once.
  std::string file = temporary("calls");
  runProgram("GC_EMULATOR_CALLS=" + file, "gc-cuda-workload");
  std::istringstream lines(contents(file));
  std::map<std::string, int> calls;
  std::string name;
  for (int count; lines >> name >> count;)
    calls[name] = count;
  EXPECT_EQ(calls["cuMemAlloc"], 1) << "one arena";
  EXPECT_EQ(calls["cuGraphInstantiate"], 2) << "one for each slot";
  EXPECT_EQ(calls["cuGraphLaunch"], 3);
  EXPECT_EQ(calls["cuLaunchKernel"], 2) << "while capturing, never again";
  EXPECT_EQ(calls["cuMemcpyHtoDAsync"], 4 + 1) << "four uploads and the variable";
  std::remove(file.c_str());
}

TEST(CudaDevice, DescribesTheGpu) {
  Outcome outcome = runProgram("GC_EMULATOR_SM=8.6", "gc-cuda-workload properties");
  auto json =
      nlohmann::json::parse(outcome.output.substr(0, outcome.output.find("loss")), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.output;
  EXPECT_EQ(json["compute_capability"], "8.6");
  EXPECT_EQ(json["attributes"]["warp_size"], 32);
  EXPECT_EQ(json["uuid"].get<std::string>().size(), 40u);
}

TEST(CudaDevice, SaysWhatIsMissing) {
  // A file of that name stands for a machine without a driver, whatever is installed.
  std::string folder = temporary("none");
  ASSERT_EQ(std::system(("mkdir -p " + folder + "; echo > " + folder + "/libcuda.so.1").c_str()),
            0);
  std::string text = whatItSays("", "", folder);
  EXPECT_EQ(std::system(("rm -r " + folder).c_str()), 0);
  EXPECT_TRUE(contains(text, "no CUDA driver: cannot load libcuda.so.1")) << text;
  EXPECT_TRUE(contains(text, "install the NVIDIA driver, or use --device=cpu")) << text;
  text = whatItSays("GC_EMULATOR_FAIL=cuInit:1=34", "");
  EXPECT_TRUE(contains(text, "stub")) << text;
  text = whatItSays("GC_EMULATOR_FAIL=cuInit:1=100", "");
  EXPECT_TRUE(contains(text, "finds no GPU")) << text;
  text = whatItSays("GC_EMULATOR_DEVICES=0", "");
  EXPECT_TRUE(contains(text, "finds no GPU")) << text;
  text = whatItSays("GC_EMULATOR_FAIL=cuInit:1=100 CUDA_VISIBLE_DEVICES=7", "");
  EXPECT_TRUE(contains(text, "CUDA_VISIBLE_DEVICES is '7'")) << text;
  text = whatItSays("GC_EMULATOR_DEVICES=2", "device=cuda:2");
  EXPECT_TRUE(contains(text, "no device 'cuda:2'; this machine has 2 GPUs, cuda:0 to cuda:1"))
      << text;
  EXPECT_EQ(runProgram("GC_EMULATOR_DEVICES=2", "gc-cuda-workload device=cuda:1").exitCode, 0);
}

// What machines that have just got their GPU or driver answer: the name, and what to do.
TEST(CudaDevice, SaysWhatToDoAboutTheMachine) {
  const std::pair<const char *, const char *> answers[] = {
      {"cuInit:1=CUDA_ERROR_UNKNOWN", "nvidia-modprobe"},
      {"cuInit:1=CUDA_ERROR_SYSTEM_NOT_READY", "start nvidia-fabricmanager"},
      {"cuInit:1=CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart the machine"},
      {"cuInit:1=CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "out of LD_LIBRARY_PATH"},
      {"cuDevicePrimaryCtxRetain:1=CUDA_ERROR_DEVICE_UNAVAILABLE", "has the GPU for itself"}};
  for (auto [injected, advice] : answers) {
    std::string what = injected, name = what.substr(what.find('=') + 1);
    std::string text = whatItSays("GC_EMULATOR_FAIL=" + what, "");
    EXPECT_TRUE(contains(text, name + ": ")) << text;
    EXPECT_TRUE(contains(text, advice)) << text;
  }
}

TEST(CudaDevice, RefusesPlansThatDoNotSuit) {
  std::string text = whatItSays("GC_EMULATOR_SM=7.5", "sm=sm_80");
  EXPECT_TRUE(contains(text, "compiled for sm_80, this GPU")) << text;
  EXPECT_TRUE(contains(text, "--target=sm_75")) << text;
  text = whatItSays("GC_EMULATOR_SM=7.5", "shared=102400");
  EXPECT_TRUE(contains(text, "command 'layer1.conv:conv2d'")) << text;
  EXPECT_TRUE(contains(text, "needs 102400 bytes of shared memory")) << text;
  EXPECT_EQ(runProgram("GC_EMULATOR_SM=8.6", "gc-cuda-workload shared=65536").exitCode, 0)
      << "more than 48 KiB must be asked for";
  text = whatItSays("GC_EMULATOR_MEMORY=1GiB", "items=100000000");
  EXPECT_TRUE(contains(text, "cuMemAlloc failed for an arena of 1")) << text;
  EXPECT_TRUE(contains(text, "CUDA_ERROR_OUT_OF_MEMORY")) << text;
  EXPECT_TRUE(contains(text, "--budget")) << text;
}

TEST(CudaDevice, NamesTheListOrTheOpThatFailed) {
  std::string text = whatItSays("", "fault");
  EXPECT_TRUE(contains(text, "CUDA_ERROR_ILLEGAL_ADDRESS")) << text;
  EXPECT_TRUE(contains(text, "the list micro_batch (4 commands, y:fill to loss:copy): ")) << text;
  EXPECT_TRUE(contains(text, "--profile=FILE")) << text;
  text = whatItSays("", "fault profile");
  EXPECT_TRUE(contains(text, "cuEventSynchronize failed for layer1.conv:conv2d (kernel "
                             "conformance_affine): CUDA_ERROR_ILLEGAL_ADDRESS"))
      << text;
  text = whatItSays("GC_EMULATOR_FAIL=cuLaunchKernel:1=719", "");
  EXPECT_TRUE(contains(text, "cuLaunchKernel failed for layer1.conv:conv2d (kernel "
                             "conformance_affine): CUDA_ERROR_LAUNCH_FAILED: "))
      << text;
}

TEST(CudaDevice, ChoosesTheImage) {
  auto is = [](const char *target, int architecture, ImageKind kind) {
    auto got = imageFor(target, architecture, "GPU");
    return got.ok() && *got == kind;
  };
  EXPECT_TRUE(is("sm_80", 80, ImageKind::Cubin));
  EXPECT_TRUE(is("sm_80", 86, ImageKind::Cubin)) << "same major version, newer minor";
  EXPECT_TRUE(is("sm_80", 90, ImageKind::Text));
  EXPECT_TRUE(is("sm_75", 120, ImageKind::Text));
  EXPECT_TRUE(is("sm_90a", 90, ImageKind::Cubin));
  EXPECT_TRUE(is("sm_100f", 103, ImageKind::Cubin));
  for (auto [target, architecture] :
       {std::pair("sm_86", 80), {"sm_90", 89}, {"sm_90a", 100}, {"sm_100f", 120}, {"sm_120", 90}}) {
    auto refused = imageFor(target, architecture, "GPU");
    ASSERT_FALSE(refused) << target << " on " << architecture;
    EXPECT_EQ(refused.error().exitCode(), 4);
    EXPECT_TRUE(contains(refused.error().message, target));
    EXPECT_TRUE(contains(refused.error().message, std::to_string(architecture)));
  }
  for (const char *target : {"", "sm_", "80", "sm_80x", "sm_80aa", "compute_80"})
    EXPECT_EQ(imageFor(target, 80, "GPU").error().exitCode(), 2) << target;
}
