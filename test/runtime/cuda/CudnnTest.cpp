// cuDNN's interface against its own header, and our use of it against a library that checks it.
#include "runtime/cuda/CudnnApi.h"
#include "test/runtime/cuda/RunProgram.h"

using namespace gc::test;

#ifndef GC_HAS_CUDNN_HEADER

TEST(CudnnApi, MatchesTheRealHeader) { GTEST_SKIP() << "there is no cudnn_graph.h"; }

#else
#include <cudnn_graph.h>
#include <type_traits>

namespace {
namespace ours = gc::runtime::cuda;

// What a type of ours is called in the real header.
template <class T> struct Real { using type = T; };
template <class T> struct Real<const T> { using type = const typename Real<T>::type; };
template <class T> struct Real<T *> { using type = typename Real<T>::type *; };
template <class Result, class... Arguments> struct Real<Result(Arguments...)> {
  using type = typename Real<Result>::type(typename Real<Arguments>::type...);
};
#define GC_TYPE(mine, real)                                                                        \
  template <> struct Real<mine> { using type = real; };
GC_TYPE(ours::cudnnStatus_t, ::cudnnStatus_t)
GC_TYPE(ours::cudnnHandle_t, ::cudnnHandle_t)
GC_TYPE(ours::CUstream, ::cudaStream_t)
GC_TYPE(ours::cudnnBackendDescriptorType_t, ::cudnnBackendDescriptorType_t)
GC_TYPE(ours::cudnnBackendAttributeName_t, ::cudnnBackendAttributeName_t)
GC_TYPE(ours::cudnnBackendAttributeType_t, ::cudnnBackendAttributeType_t)
#undef GC_TYPE
} // namespace

namespace gc::runtime::cuda {
#define GC_CALL(name, result, parameters) using Type_##name = result parameters;
GC_CUDNN_FUNCTIONS(GC_CALL)
#undef GC_CALL
} // namespace gc::runtime::cuda

TEST(CudnnApi, MatchesTheRealHeader) {
#define GC_CALL(name, result, parameters)                                                          \
  EXPECT_TRUE((std::is_same_v<Real<ours::Type_##name>::type, decltype(::name)>)) << #name;
  GC_CUDNN_FUNCTIONS(GC_CALL)
#undef GC_CALL
#define GC_VALUE(name) EXPECT_EQ(int(ours::name), int(::name)) << #name;
  GC_VALUE(CUDNN_STATUS_SUCCESS)
  GC_VALUE(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
  GC_VALUE(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
  GC_VALUE(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
  GC_VALUE(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
  GC_VALUE(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)
  GC_VALUE(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)
  GC_VALUE(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
  GC_VALUE(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
  GC_VALUE(CUDNN_TYPE_HANDLE)
  GC_VALUE(CUDNN_TYPE_INT64)
  GC_VALUE(CUDNN_TYPE_VOID_PTR)
  GC_VALUE(CUDNN_TYPE_CHAR)
#undef GC_VALUE
}
#endif

namespace {
const std::string kLibraries = GC_FAKE_CUDNN ":" GC_EMULATOR;
}

TEST(Cudnn, ExecutesGraphsInBothWays) {
  for (const char *mode : {"", " profile"}) {
    Outcome outcome =
        runProgram("", std::string("gc-cuda-workload graph items=100") + mode, kLibraries);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
    // w begins as a hundred quarters; the graph puts y's first four, 6 + i, behind the first one.
    EXPECT_TRUE(contains(outcome.output, "w 54\n")) << outcome.output;
    EXPECT_FALSE(contains(outcome.output, "not given back")) << outcome.output;
    if (*mode) {
      EXPECT_TRUE(contains(outcome.output, "fc:matmul: cuDNN product_relu, 3 times"));
    }
  }
}

TEST(Cudnn, EveryCallThatFailsIsNamed) {
  for (const char *call :
       {"cudnnCreate", "cudnnSetStream", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
        "cudnnBackendFinalize", "cudnnBackendGetAttribute", "cudnnBackendExecute"}) {
    Outcome outcome = runProgram(std::string("GC_FAKE_CUDNN_FAIL=") + call,
                                 "gc-cuda-workload graph items=100", kLibraries);
    EXPECT_EQ(outcome.exitCode, 4) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, std::string(call) + " failed for ")) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "CUDNN_STATUS_INTERNAL_ERROR: ")) << outcome.output;
    EXPECT_FALSE(contains(outcome.output, "not given back")) << outcome.output;
  }
  Outcome outcome = runProgram("GC_FAKE_CUDNN_FAIL=cudnnBackendExecute",
                               "gc-cuda-workload graph items=100", kLibraries);
  EXPECT_TRUE(contains(outcome.output, "fc:matmul (cuDNN graph product_relu)")) << outcome.output;
}

// A library that does what captures forbid: the commands are submitted one by one, which is said
// once, and compute the same.
TEST(Cudnn, GoesOnWithoutAGraph) {
  const std::string calls = temporary("calls");
  std::string captured = runProgram("", "gc-cuda-workload graph items=100", kLibraries).output;
  Outcome outcome = runProgram("GC_FAKE_CUDNN_WAIT=1 GC_EMULATOR_CALLS=" + calls,
                               "gc-cuda-workload graph items=100", kLibraries);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  size_t note = outcome.output.find("note: commands are submitted one by one");
  ASSERT_NE(note, std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("note: ", note + 1), std::string::npos) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "the list micro_batch (4 commands, y:fill to loss:copy) "
                                       "could not be captured into a CUDA graph: "
                                       "cudnnBackendExecute failed for fc:matmul"))
      << outcome.output;
  EXPECT_EQ(outcome.output.substr(0, note), captured);
  EXPECT_TRUE(contains(contents(calls), "cuGraphLaunch 0\n")) << contents(calls);
  std::remove(calls.c_str());
}

TEST(Cudnn, WorkspaceMustSuffice) {
  Outcome outcome = runProgram("GC_FAKE_CUDNN_WORKSPACE=257", "gc-cuda-workload graph", kLibraries);
  EXPECT_EQ(outcome.exitCode, 4);
  EXPECT_TRUE(contains(outcome.output, "graph product_relu needs 257 bytes of workspace here, the "
                                       "plan has 256"))
      << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "installed is cuDNN 9.19.0")) << outcome.output;
}

TEST(Cudnn, PlansWithoutGraphsNeedNone) {
  EXPECT_EQ(runProgram("", "gc-cuda-workload").exitCode, 0);
}

// A folder with a file of that name stands for a machine without cuDNN, whatever is installed.
TEST(Cudnn, MissingLibraryIsADeviceError) {
  std::string folder = temporary("empty");
  ASSERT_EQ(
      std::system(("mkdir -p " + folder + " && echo none > " + folder + "/libcudnn.so.9").c_str()),
      0);
  Outcome outcome = runProgram("", "gc-cuda-workload graph", folder + ":" GC_EMULATOR);
  EXPECT_EQ(outcome.exitCode, 4) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "the plan uses cuDNN: cannot load libcudnn.so.9"))
      << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "--cuda-library=none")) << outcome.output;
  (void)std::system(("rm -r " + folder).c_str());
}
