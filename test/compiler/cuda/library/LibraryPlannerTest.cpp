// Plans of cuDNN for GPUs that are not there: which graphs have one, what the options refuse, and
// that nothing of it stays in this process.
#include "compiler/cuda/library/LibraryPlanner.h"
#include "compiler/cuda/library/ExampleGraphs.h"
#include "compiler/cuda/library/GraphJson.h"
#include "runtime/plan/CudnnProfile.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace gc::cuda;

namespace {

// Skips where there is no library; anything else that goes wrong is an error.
#define MAKE_PLANNER(planner, target, ...)                                                         \
  std::string reason_##planner;                                                                    \
  auto planner = LibraryPlanner::create(*findDeviceModel(target), __VA_ARGS__, reason_##planner);  \
  if (!planner && (reason_##planner.starts_with("built without") ||                                \
                   reason_##planner.starts_with("cannot load cuDNN")))                             \
    GTEST_SKIP() << reason_##planner;                                                              \
  ASSERT_TRUE(planner) << reason_##planner

PlanAnswer plan(LibraryPlanner &planner, const LibraryGraph &graph) {
  return std::visit([&](auto &g) { return planner.plan(g); }, graph);
}
LibraryGraph example(gc::plan::DType type, const std::string &name) {
  for (auto &example : exampleGraphs(type))
    if (example.name == name)
      return example.graph;
  ADD_FAILURE() << "no example " << name;
  return {};
}
PlannerOptions firstChoice() {
  PlannerOptions options;
  options.maxAlternatives = 0;
  return options;
}

//===----------------------------------------------------------------------===//
// Every graph, type and target
//===----------------------------------------------------------------------===//

// What has no engine (PLANS.md says why) and takes the generated path.
bool mayHaveNone(const std::string &name, gc::plan::DType type, const std::string &target) {
  bool attention = name.starts_with("attention"), batchNorm = name.starts_with("batch norm");
  if (target == "sm_75")
    return type == gc::plan::DType_BF16 || attention || batchNorm || name.starts_with("products");
  return type == gc::plan::DType_F32 && (attention || name.starts_with("products"));
}

class EveryGraph : public testing::TestWithParam<std::tuple<gc::plan::DType, std::string>> {};

TEST_P(EveryGraph, IsPlannedAndRestored) {
  auto [type, target] = GetParam();
  MAKE_PLANNER(planner, target, firstChoice());
  DeviceModel largest = *findDeviceModel(target);
  largest.multiprocessors = largest.servedMultiprocessors;
  std::string reason;
  auto onLargest = LibraryPlanner::create(largest, firstChoice(), reason);
  ASSERT_TRUE(onLargest) << reason;
  for (auto &[name, graph] : exampleGraphs(type)) {
    SCOPED_TRACE(name);
    PlanAnswer answer = plan(*planner, graph);
    if (!answer.plan) {
      EXPECT_FALSE(answer.reason.empty());
      EXPECT_TRUE(mayHaveNone(name, type, target)) << answer.reason;
      continue;
    }
    EXPECT_TRUE(answer.plan->engine.starts_with("engine ")) << answer.plan->engine;
    EXPECT_GE(answer.plan->tensors.size(), 2u);
    // What is restored is the library's own part; scratch tensors lie behind it, inside the rest.
    int64_t own = answer.plan->workspaceBytes;
    for (auto &scratch : answer.plan->scratch) {
      own = std::min(own, scratch.offset);
      EXPECT_LE(scratch.offset + scratch.bytes, answer.plan->workspaceBytes);
    }
    auto restored = planner->restore(answer.plan->plan, reason);
    ASSERT_TRUE(restored) << reason;
    EXPECT_LE(*restored, own);
    // The workspace is that of the largest GPU of the architecture.
    auto fitted = gc::plan::fitCudnnPlan(answer.plan->plan, PlannerOptions().driverVersion,
                                         largest.multiprocessors);
    ASSERT_TRUE(fitted);
    auto there = onLargest->restore(*fitted, reason);
    ASSERT_TRUE(there) << reason;
    int64_t most = std::max(*restored, *there);
    EXPECT_LE(most, own);
    EXPECT_GE(most + 256, own); // scratch tensors start at the next multiple of 256
    if (answer.plan->scratch.empty()) {
      EXPECT_EQ(most, own);
    }
  }
}

std::string caseName(const testing::TestParamInfo<EveryGraph::ParamType> &info) {
  return std::string(gc::plan::EnumNameDType(std::get<0>(info.param))) + "_" +
         std::get<1>(info.param);
}
INSTANTIATE_TEST_SUITE_P(Targets, EveryGraph,
                         testing::Combine(testing::Values(gc::plan::DType_F32),
                                          testing::Values("sm_75", "sm_80", "sm_86", "sm_89",
                                                          "sm_90", "sm_100", "sm_120")),
                         caseName);
// Steps do not use these yet; gc-cudnn-table asks for all of them.
INSTANTIATE_TEST_SUITE_P(HalfTypes, EveryGraph,
                         testing::Combine(testing::Values(gc::plan::DType_F16,
                                                          gc::plan::DType_BF16),
                                          testing::Values("sm_75", "sm_90")),
                         caseName);

//===----------------------------------------------------------------------===//
// What a plan says
//===----------------------------------------------------------------------===//

std::vector<std::string> roles(const LibraryPlan &plan) {
  std::vector<std::string> names;
  for (auto &tensor : plan.tensors)
    names.push_back(tensor.role);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(LibraryPlanner, NamesTensorsAndScalars) {
  MAKE_PLANNER(planner, "sm_86", firstChoice());
  using Names = std::vector<std::string>;
  auto answer =
      plan(*planner, example(gc::plan::DType_F32, "convolution + bias + residual + ReLU"));
  ASSERT_TRUE(answer.plan) << answer.reason;
  EXPECT_EQ(roles(*answer.plan), (Names{"bias", "filter", "input", "output", "residual"}));
  EXPECT_TRUE(answer.plan->scalars.empty());
  answer = plan(*planner, example(gc::plan::DType_F32, "layer norm"));
  ASSERT_TRUE(answer.plan) << answer.reason;
  EXPECT_EQ(roles(*answer.plan), (Names{"bias", "input", "mean", "output", "rstd", "weight"}));
  ASSERT_EQ(answer.plan->scalars.size(), 1u);
  EXPECT_EQ(answer.plan->scalars[0].role, "epsilon");
  EXPECT_EQ(answer.plan->scalars[0].value, 1e-6f);
  // Ids are what binds them: all different, and known to the serialized plan's graph.
  std::vector<int64_t> ids{answer.plan->scalars[0].id};
  for (auto &tensor : answer.plan->tensors)
    ids.push_back(tensor.id);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST(LibraryPlanner, SaysWhichDriverAndLibrary) {
  MAKE_PLANNER(planner, "sm_86", firstChoice());
  EXPECT_TRUE(planner->driver() == "libcuda.so.1" ||
              planner->driver() == "compile-only driver of gc")
      << planner->driver();
  EXPECT_TRUE(planner->libraryVersion().starts_with("9.")) << planner->libraryVersion();
}

// Recomputation is bit-identical only if the same graph gets the same engine, always.
TEST(LibraryPlanner, IsAFunctionOfTheGraph) {
  auto graph = example(gc::plan::DType_F32, "convolution, data gradient");
  std::vector<LibraryPlan> plans;
  for (int i = 0; i < 2; ++i) {
    MAKE_PLANNER(planner, "sm_86", {});
    if (i == 1) // others before it change nothing
      plan(*planner, example(gc::plan::DType_F32, "convolution 3x3"));
    auto answer = plan(*planner, graph), again = plan(*planner, graph);
    ASSERT_TRUE(answer.plan) << answer.reason;
    EXPECT_EQ(answer.plan->plan, again.plan->plan);
    plans.push_back(*answer.plan);
  }
  EXPECT_EQ(plans[0].plan, plans[1].plan);
  EXPECT_EQ(plans[0].engine, plans[1].engine);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

// The heuristics' first choice for this graph adds with atomics.
TEST(LibraryPlanner, TakesNoNondeterministicEngineUnlessAllowed) {
  auto graph = example(gc::plan::DType_F32, "convolution, filter gradient");
  PlannerOptions options = firstChoice();
  MAKE_PLANNER(strict, "sm_80", options);
  options.allowNondeterministic = true;
  MAKE_PLANNER(lax, "sm_80", options);
  auto deterministic = plan(*strict, graph), fastest = plan(*lax, graph);
  ASSERT_TRUE(deterministic.plan && fastest.plan) << deterministic.reason << fastest.reason;
  EXPECT_NE(deterministic.plan->engine, fastest.plan->engine);
}

TEST(LibraryPlanner, TakesNoTf32UnlessAllowed) {
  auto graph = example(gc::plan::DType_F32, "products of a batch, scaled");
  PlannerOptions options = firstChoice();
  MAKE_PLANNER(strict, "sm_86", options);
  options.allowTf32 = true;
  MAKE_PLANNER(lax, "sm_86", options);
  auto exact = plan(*strict, graph), rounded = plan(*lax, graph);
  EXPECT_FALSE(exact.plan);
  EXPECT_NE(exact.reason.find("TF32"), std::string::npos) << exact.reason;
  EXPECT_TRUE(rounded.plan) << rounded.reason;
}

// Engines of Winograd's algorithm lose digits: in f32 there is another for each of our graphs. By
// the flag, and by the words in the plan itself.
TEST(LibraryPlanner, TakesNoWinogradInF32) {
  PlannerOptions options = firstChoice();
  for (const char *target : {"sm_75", "sm_80", "sm_86"}) {
    MAKE_PLANNER(planner, target, options);
    for (const char *name : {"convolution 3x3", "convolution, data gradient"}) {
      auto answer = plan(*planner, example(gc::plan::DType_F32, name));
      ASSERT_TRUE(answer.plan) << answer.reason;
      EXPECT_FALSE(answer.plan->winograd) << target << " " << name;
      EXPECT_EQ(answer.plan->plan.find("WINOGRAD"), std::string::npos) << target << " " << name;
    }
  }
  // They are there, and taken where rounding is allowed.
  options.allowTf32 = true;
  MAKE_PLANNER(lax, "sm_75", options);
  auto rounded = plan(*lax, example(gc::plan::DType_F32, "convolution, data gradient"));
  ASSERT_TRUE(rounded.plan) << rounded.reason;
  EXPECT_TRUE(rounded.plan->winograd) << rounded.plan->engine;
}

TEST(LibraryPlanner, KeepsToTheWorkspaceLimit) {
  auto graph = example(gc::plan::DType_F32, "convolution, data gradient");
  PlannerOptions options = firstChoice();
  MAKE_PLANNER(free, "sm_86", options);
  auto unlimited = plan(*free, graph);
  ASSERT_TRUE(unlimited.plan) << unlimited.reason;
  ASSERT_GT(unlimited.plan->workspaceBytes, 0);
  options.workspaceLimit = unlimited.plan->workspaceBytes - 1;
  MAKE_PLANNER(tight, "sm_86", options);
  auto limited = plan(*tight, graph);
  ASSERT_TRUE(limited.plan) << limited.reason;
  EXPECT_LE(limited.plan->workspaceBytes, options.workspaceLimit);
  options.workspaceLimit = -1; // no engine needs less than nothing
  MAKE_PLANNER(impossible, "sm_86", options);
  EXPECT_FALSE(plan(*impossible, graph).plan);
  options.workspaceLimit = 0;
  MAKE_PLANNER(none, "sm_86", options);
  auto attention = plan(*none, example(gc::plan::DType_F16, "attention, gradient"));
  EXPECT_FALSE(attention.plan);
  EXPECT_NE(attention.reason.find("more workspace than allowed"), std::string::npos)
      << attention.reason;
}

TEST(LibraryPlanner, AlternativesNeedHalfOrLess) {
  MAKE_PLANNER(planner, "sm_86", {});
  auto answer = plan(*planner, example(gc::plan::DType_F32, "convolution, data gradient"));
  ASSERT_TRUE(answer.plan) << answer.reason;
  ASSERT_FALSE(answer.alternatives.empty());
  int64_t last = answer.plan->workspaceBytes;
  for (auto &alternative : answer.alternatives) {
    EXPECT_LE(alternative.workspaceBytes, last / 2);
    last = alternative.workspaceBytes;
  }
}

//===----------------------------------------------------------------------===//
// What is no graph
//===----------------------------------------------------------------------===//

TEST(LibraryPlanner, BadGraphsGetReasons) {
  MAKE_PLANNER(planner, "sm_86", firstChoice());
  auto reasonOf = [&](const LibraryGraph &graph) {
    auto answer = plan(*planner, graph);
    EXPECT_FALSE(answer.plan);
    return answer.reason;
  };
  auto convolution =
      std::get<gc::plan::ConvolutionSpecT>(example(gc::plan::DType_F32, "convolution 3x3"));
  convolution.out_h = 55;
  EXPECT_EQ(reasonOf(convolution),
            "not a graph: the convolution's output size does not follow from its input");
  convolution.batch = 0;
  EXPECT_EQ(reasonOf(convolution), "not a graph: a convolution's sizes must be positive");
  auto sound =
      std::get<gc::plan::ConvolutionSpecT>(example(gc::plan::DType_F32, "convolution 3x3"));
  convolution = sound, convolution.groups = 7;
  EXPECT_EQ(reasonOf(convolution), "not a graph: a convolution's groups must divide its channels");
  convolution = sound, convolution.dilation_w = 0;
  EXPECT_EQ(reasonOf(convolution), "not a graph: a convolution's dilation must be positive");
  convolution = sound, convolution.dilation_h = 2;
  EXPECT_EQ(reasonOf(convolution),
            "not a graph: the convolution's output size does not follow from its input");
  auto product = std::get<gc::plan::MatMulSpecT>(example(gc::plan::DType_F32, "linear"));
  product.a_strides.pop_back();
  EXPECT_EQ(reasonOf(product), "not a graph: a product's strides must be one for each batch "
                               "dimension and two more");
  product = std::get<gc::plan::MatMulSpecT>(example(gc::plan::DType_F16, "linear"));
  product.accumulator = gc::plan::DType_F16;
  EXPECT_EQ(reasonOf(product), "not a graph: sums are kept in f32 alone");
  product.accumulator = gc::plan::DType_F32, product.type = gc::plan::DType_I32;
  EXPECT_EQ(reasonOf(product), "not a graph: the library computes f32, f16 and bf16 alone");
  EXPECT_EQ(reasonOf(LayerNormGraph{}), "not a graph: a norm's sizes must be positive");
  EXPECT_EQ(reasonOf(AttentionGraph{}), "not a graph: attention's sizes must be positive");
  auto pool = std::get<PoolGraph>(example(gc::plan::DType_F32, "max pool"));
  pool.padH = 3;
  EXPECT_EQ(reasonOf(pool), "not a graph: a pool's padding must be less than its window");
  std::string reason;
  EXPECT_FALSE(planner->restore("{\"no\": \"plan\"}", reason));
  EXPECT_TRUE(reason.starts_with("restoring the plan")) << reason;
  // It still works after all that.
  EXPECT_TRUE(plan(*planner, example(gc::plan::DType_F32, "convolution 3x3")).plan);
}

//===----------------------------------------------------------------------===//
// What goes over the line
//===----------------------------------------------------------------------===//

template <typename Spec> std::string bytesOf(const Spec &spec) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Spec::TableType::Pack(builder, &spec));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

// No field has its default value here, so one that gets lost shows.
TEST(GraphJson, KeepsEveryFieldOfASpec) {
  gc::plan::ConvolutionSpecT convolution;
  int64_t number = 2;
  for (int64_t gc::plan::ConvolutionSpecT::*field :
       {&gc::plan::ConvolutionSpecT::batch, &gc::plan::ConvolutionSpecT::in_h,
        &gc::plan::ConvolutionSpecT::in_w, &gc::plan::ConvolutionSpecT::in_c,
        &gc::plan::ConvolutionSpecT::out_h, &gc::plan::ConvolutionSpecT::out_w,
        &gc::plan::ConvolutionSpecT::out_c, &gc::plan::ConvolutionSpecT::kernel_h,
        &gc::plan::ConvolutionSpecT::kernel_w, &gc::plan::ConvolutionSpecT::stride_h,
        &gc::plan::ConvolutionSpecT::stride_w, &gc::plan::ConvolutionSpecT::pad_h,
        &gc::plan::ConvolutionSpecT::pad_w, &gc::plan::ConvolutionSpecT::dilation_h,
        &gc::plan::ConvolutionSpecT::dilation_w, &gc::plan::ConvolutionSpecT::groups})
    convolution.*field = number++;
  convolution.direction = gc::plan::Direction_BackwardWeights;
  convolution.type = gc::plan::DType_BF16, convolution.accumulator = gc::plan::DType_F16;
  convolution.activation = gc::plan::Activation_Gelu;
  convolution.bias = convolution.residual = convolution.accumulate = true;
  auto line = nlohmann::json(convolution).dump();
  EXPECT_EQ(bytesOf(nlohmann::json::parse(line).get<gc::plan::ConvolutionSpecT>()),
            bytesOf(convolution))
      << line;

  gc::plan::MatMulSpecT product;
  product.type = gc::plan::DType_F16, product.accumulator = gc::plan::DType_BF16;
  product.batch = {2, 3}, product.m = 4, product.n = 5, product.k = 6;
  product.a_strides = {7, 8, 9, 10}, product.b_strides = {11, 12, 13, 14};
  product.c_strides = {15, 16, 17, 18};
  product.scale = 0.1f, product.activation = gc::plan::Activation_Relu;
  product.bias = product.residual = product.accumulate = true;
  line = nlohmann::json(product).dump();
  EXPECT_EQ(bytesOf(nlohmann::json::parse(line).get<gc::plan::MatMulSpecT>()), bytesOf(product))
      << line;
}

//===----------------------------------------------------------------------===//
// Other GPUs of the architecture, other drivers
//===----------------------------------------------------------------------===//

// The library refuses a plan on a GPU with another driver or another number of multiprocessors;
// fitted, as the runtime does it, it takes the plan, in no more workspace than was planned.
TEST(LibraryPlanner, FittedPlansRestoreOnOtherCardsAndDrivers) {
  MAKE_PLANNER(planner, "sm_86", firstChoice());
  std::vector<std::string> graphs = {"convolution 3x3", "convolution, filter gradient",
                                     "linear + bias + residual", "layer norm",
                                     "layer norm, gradient"};
  std::vector<LibraryPlan> plans;
  for (const std::string &graph : graphs) {
    PlanAnswer answer = plan(*planner, example(gc::plan::DType_F32, graph));
    ASSERT_TRUE(answer.plan) << graph << ": " << answer.reason;
    plans.push_back(*answer.plan);
  }
  int refused = 0;
  for (const char *card : {"RTX 3060", "RTX 3080", "RTX A6000"})
    for (int driver : {12020, 13000, 13010}) {
      PlannerOptions options = firstChoice();
      options.driverVersion = driver;
      const DeviceModel &there = *findDeviceModel(card);
      std::string reason;
      auto elsewhere = LibraryPlanner::create(there, options, reason);
      ASSERT_TRUE(elsewhere) << reason;
      for (size_t i = 0; i < graphs.size(); ++i) {
        std::string where = graphs[i] + " on " + card + ", driver " + std::to_string(driver);
        refused += !elsewhere->restore(plans[i].plan, reason);
        auto fitted = gc::plan::fitCudnnPlan(plans[i].plan, driver, there.multiprocessors);
        ASSERT_TRUE(fitted) << where;
        auto workspace = elsewhere->restore(*fitted, reason);
        ASSERT_TRUE(workspace) << where << ": " << reason;
        EXPECT_LE(*workspace, plans[i].workspaceBytes) << where;
      }
    }
  EXPECT_GT(refused, 0) << "fitting would not be needed";
}

// GC_OTHER_CUDNN are folders with another cuDNN and what that loads: each plan of the installed one
// either restores there, on a GPU whose driver serves GC_OTHER_DRIVER (12020 for CUDA 12.2; the
// newest if it is not set), or is refused with a reason; the runtime then takes the generated twin.
// CONTRIBUTING.md says how to get one.
TEST(LibraryPlanner, AnotherCudnnRestoresOrSaysWhyNot) {
  const char *folders = std::getenv("GC_OTHER_CUDNN"), *driver = std::getenv("GC_OTHER_DRIVER");
  if (!folders)
    GTEST_SKIP() << "GC_OTHER_CUDNN is not set";
  MAKE_PLANNER(planner, "sm_86", firstChoice());
  std::string script = testing::TempDir() + "other-cudnn-plan";
  std::ofstream(script)
      << "#!/bin/sh\nLD_LIBRARY_PATH='" << folders << "' exec '"
      << (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gc-cudnn-plan").string()
      << "' \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const DeviceModel &there = *findDeviceModel("RTX 3080");
  PlannerOptions options = firstChoice();
  options.helper = script;
  if (driver)
    options.driverVersion = std::atoi(driver);
  std::string reason;
  auto other = LibraryPlanner::create(there, options, reason);
  ASSERT_TRUE(other) << reason;
  for (const char *graph :
       {"convolution 3x3", "convolution, data gradient", "convolution, filter gradient",
        "linear + bias + residual", "layer norm", "layer norm, gradient"}) {
    PlanAnswer answer = plan(*planner, example(gc::plan::DType_F32, graph));
    ASSERT_TRUE(answer.plan) << answer.reason;
    auto fitted =
        gc::plan::fitCudnnPlan(answer.plan->plan, options.driverVersion, there.multiprocessors);
    ASSERT_TRUE(fitted) << graph;
    auto workspace = other->restore(*fitted, reason);
    std::printf("%s: a plan of cuDNN %s with %s and a driver of %d: %s\n", graph,
                planner->libraryVersion().c_str(), other->libraryVersion().c_str(),
                options.driverVersion, workspace ? "restores" : reason.c_str());
    if (workspace)
      EXPECT_LE(*workspace, answer.plan->workspaceBytes) << graph;
    else
      EXPECT_NE(reason.find("CUDNN_STATUS"), std::string::npos) << reason;
  }
  // It plans for itself, too: what it asks of the driver is there.
  PlanAnswer own = plan(*other, example(gc::plan::DType_F32, "layer norm, gradient"));
  ASSERT_TRUE(own.plan) << own.reason;
  EXPECT_TRUE(other->restore(own.plan->plan, reason)) << reason;
}

TEST(FitCudnnPlan, ChangesNothingButTheProfile) {
  EXPECT_EQ(gc::plan::fitCudnnPlan(R"({"driverVer":1,"GPUProfile":{"multiProcessorCount":82,"x":1,)"
                                   R"("driverVer":13000}})",
                                   12020, 28),
            R"({"driverVer":1,"GPUProfile":{"multiProcessorCount":28,"x":1,"driverVer":12020}})");
  EXPECT_FALSE(gc::plan::fitCudnnPlan(R"({"multiProcessorCount":82,"driverVer":13000})", 1, 1));
  EXPECT_FALSE(gc::plan::fitCudnnPlan(R"({"GPUProfile":{"multiProcessorCount":82}})", 1, 1));
  EXPECT_EQ(gc::plan::cudnnVersionText(92603), "9.26.3");
}

//===----------------------------------------------------------------------===//
// The process that plans
//===----------------------------------------------------------------------===//

// A driver that can run nothing must never be found by what would run something.
TEST(LibraryPlanner, LeavesNothingInThisProcess) {
  MAKE_PLANNER(planner, "sm_86", firstChoice());
  ASSERT_TRUE(plan(*planner, example(gc::plan::DType_F32, "layer norm")).plan);
  std::ifstream maps("/proc/self/maps");
  std::string text{std::istreambuf_iterator<char>(maps), {}};
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.find("libcuda.so"), std::string::npos);
  EXPECT_EQ(text.find("libcudnn"), std::string::npos);
}

#ifdef GC_HAVE_CUDNN_HEADERS
TEST(LibraryPlanner, SaysWhyTheProcessDoesNotStart) {
  PlannerOptions options;
  std::string reason;
  options.helper = "/nonexistent/helper";
  EXPECT_FALSE(LibraryPlanner::create(*findDeviceModel("sm_86"), options, reason));
  EXPECT_EQ(reason, "cannot start /nonexistent/helper: No such file or directory");
  options.helper = "/bin/false";
  EXPECT_FALSE(LibraryPlanner::create(*findDeviceModel("sm_86"), options, reason));
  EXPECT_EQ(reason, "the planner ended: exit code 1");
}

// A library that crashes costs the one graph.
TEST(LibraryPlanner, SurvivesACrash) {
  auto script =
      std::filesystem::temp_directory_path() / ("gc-crashing-planner-" + std::to_string(getpid()));
  std::ofstream(script)
      << "#!/bin/sh\nread line\necho '{\"version\": \"0\", \"driver\": \"none\"}'\n"
         "read line\ncase $line in *pool*) kill -SEGV $$;; *batch_norm*) echo nonsense;; esac\n"
         "echo '{\"reason\": \"asked\"}'\nread line\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  PlannerOptions options;
  options.helper = script;
  std::string reason;
  auto planner = LibraryPlanner::create(*findDeviceModel("sm_86"), options, reason);
  ASSERT_TRUE(planner) << reason;
  EXPECT_EQ(planner->plan(PoolGraph{}).reason, "the planner ended: Segmentation fault");
  EXPECT_EQ(planner->plan(LayerNormGraph{}).reason, "asked");
  planner = LibraryPlanner::create(*findDeviceModel("sm_86"), options, reason);
  ASSERT_TRUE(planner) << reason;
  EXPECT_TRUE(planner->plan(BatchNormGraph{}).reason.starts_with("the planner's answer is not"));
  std::filesystem::remove(script);
}
#else
TEST(LibraryPlanner, SaysThatItWasBuiltWithoutHeaders) {
  std::string reason;
  EXPECT_FALSE(LibraryPlanner::create(*findDeviceModel("sm_86"), {}, reason));
  EXPECT_TRUE(reason.starts_with("built without cuDNN's headers"));
}
#endif

} // namespace
