//===- NetworksTest.cpp - every network compiles for every target ---------===//
//
// The real networks in their real sizes, for GPUs that are not there: the plan replays, and every
// generated kernel is assembled for the target, with no spills. Compiled networks are not executed
// here; small ones are (test/pinned, test/memory).
//
//===----------------------------------------------------------------------===//
#include "models/Networks.h"
#include "compiler/Compile.h"
#include "compiler/cuda/DeviceModel.h"
#include "runtime/plan/PlanFile.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gc::test {
namespace {

using nlohmann::json;

struct Case {
  const char *name;
  models::NetworkOptions options;
};

std::vector<Case> networks() {
  models::ResnetOptions resnet50;
  resnet50.depth = 50;
  models::VitOptions vit;
  vit.size = "small";
  return {{"mnist", models::MnistOptions()},
          {"cnn11", models::Cnn11Options()},
          {"vgg16", models::VggOptions()},
          {"resnet50", resnet50},
          {"vit_small", vit},
          {"encoder", models::EncoderOptions()}};
}

std::string textOf(const models::NetworkOptions &options) {
  mlir::MLIRContext context;
  models::Network network = models::buildNetwork(context, options);
  if (!network) {
    ADD_FAILURE() << llvm::toString(network.takeError());
    return "";
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*network)->print(stream);
  return text;
}

CompileResult compile(const std::string &text, const std::string &target,
                      const std::string &library) {
  CompileOptions options;
  options.device = "cuda";
  options.target = target;
  options.cudaLibrary = library;
  options.optimizer.name = "adam";
  options.evaluate = true;
  options.check = true;
  options.threads = 2;
  return compileModel(text, "network", options);
}

using Parameter = std::tuple<size_t, size_t>; // network, target
class Networks : public testing::TestWithParam<Parameter> {};

TEST_P(Networks, AssembleWithoutSpills) {
  Case network = networks()[std::get<0>(GetParam())];
  const cuda::DeviceModel &device = cuda::deviceModels()[std::get<1>(GetParam())];
  CompileResult compiled = compile(textOf(network.options), device.target, "none");
  ASSERT_EQ(compiled.exitCode, 0) << compiled.error;
  auto plan = runtime::PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)), "network");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)->target()->architecture()->str(), device.target);
  EXPECT_EQ(json::parse(compiled.report)["arena_bytes"], (*plan)->arena_bytes());
  json report = json::parse(compiled.report)["cuda"];
  ASSERT_GT(report["kernels"].size(), 10u);
  for (const json &kernel : report["kernels"])
    EXPECT_GE(kernel["launches"], 1) << kernel.dump();
  if (report["kernels"][0]["registers"].is_null())
    GTEST_SKIP() << "no assembler: " << report["assembler"];
  for (const json &kernel : report["kernels"]) {
    EXPECT_EQ(kernel["spill_bytes"], 0) << kernel.dump();
    EXPECT_EQ(kernel["stack_bytes"], 0) << kernel.dump();
    EXPECT_GT(kernel["occupancy"], 0) << kernel.dump();
    // No kernel has lost the blocks that it asked for.
    EXPECT_GE(kernel["blocks"], kernel["blocks_asked"]) << kernel.dump();
  }
  for (const plan::KernelImage *image : *(*plan)->kernels()->images()) {
    ASSERT_TRUE(image->cubin());
    EXPECT_GT(image->cubin()->size(), 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Networks,
                         testing::Combine(testing::Range<size_t>(0, networks().size()),
                                          testing::Range<size_t>(0, cuda::deviceModels().size())),
                         [](const auto &info) {
                           return std::string(networks()[std::get<0>(info.param)].name) + "_" +
                                  cuda::deviceModels()[std::get<1>(info.param)].target;
                         });

// Where cuDNN can plan, convolutions and products are its graphs, and their workspaces are in the
// arena.
TEST(CudnnNetworks, WorkspacesAreInTheArena) {
  models::ResnetOptions options;
  options.image = 64;
  options.batch = 4;
  std::string text = textOf(options);
  CompileResult compiled = compile(text, "sm_80", "cudnn");
  if (compiled.exitCode == 4)
    GTEST_SKIP() << compiled.error;
  ASSERT_EQ(compiled.exitCode, 0) << compiled.error;
  auto plan = runtime::PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)), "network");
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE((*plan)->graphs());
  EXPECT_GT((*plan)->graphs()->size(), 10u);
  size_t calls = 0;
  for (const plan::Command *command : *(*plan)->micro_batch()->commands())
    if (const plan::GraphCall *call = command->operation_as_GraphCall()) {
      ++calls;
      uint64_t needed = (*plan)->graphs()->Get(call->graph())->workspace_bytes();
      if (needed == 0)
        continue;
      ASSERT_GE(call->workspace(), 0) << command->name()->str();
      const plan::Buffer *workspace = (*plan)->buffers()->Get(call->workspace());
      EXPECT_GE(workspace->bytes(), needed) << command->name()->str();
      EXPECT_LE(workspace->offset() + workspace->bytes(), (*plan)->arena_bytes());
    }
  EXPECT_GT(calls, 50u); // 20 convolutions, forward and twice backward
  // The same choice every time: recomputation relies on it.
  CompileResult again = compile(text, "sm_80", "cudnn");
  ASSERT_EQ(again.exitCode, 0) << again.error;
  auto other = runtime::PlanFile::fromMemory(std::as_bytes(std::span(again.plan)), "network");
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_EQ((*other)->graphs()->size(), (*plan)->graphs()->size());
  for (uint32_t i = 0; i < (*plan)->graphs()->size(); ++i)
    EXPECT_EQ((*other)->graphs()->Get(i)->plan()->str(), (*plan)->graphs()->Get(i)->plan()->str());
}

} // namespace
} // namespace gc::test
