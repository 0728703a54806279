//===- StepPlansTest.cpp - what was scored is what is placed --------------===//
#include "passes/StepPlans.h"
#include "compiler/Pipeline.h"
#include "compiler/cpu/CpuTarget.h"
#include "mlir/Parser/Parser.h"
#include "passes/ModelFunction.h"
#include "passes/Rematerialize.h"
#include "test/memory/RandomModel.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace gc::test {
namespace {

MLIRContext &sharedContext() {
  static MLIRContext *made = [] {
    DialectRegistry registry;
    registerGcDialects(registry);
    auto *fresh = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    fresh->loadAllAvailableDialects();
    return fresh;
  }();
  return *made;
}

// A random network with its kernels chosen, ready for a plan.
OwningOpRef<ModuleOp> randomTraining(std::mt19937 &random) {
  auto module = parseSourceString<ModuleOp>(randomModel(random), &sharedContext());
  CompileOptions options;
  constexpr const char *optimizers[] = {"sgd", "adam", "adamw"};
  options.optimizer.name = optimizers[random() % 3];
  options.accumulate = 1 + random() % 2;
  options.evaluate = random() % 2;
  auto target =
      std::make_shared<cpu::CpuTarget>(&sharedContext(), 1 + static_cast<int>(random() % 8));
  PassManager passes(&sharedContext());
  buildTrainPipeline(
      passes, options, [&](MLIRContext *) { return target; }, /*lean=*/false);
  if (failed(passes.run(*module)))
    return nullptr;
  return module;
}

func::FuncOp trainOf(ModuleOp module) { return *findList(module, kMicroBatchList, ""); }

class StepPlansOf : public testing::TestWithParam<int> {
protected:
  StepPlans plansOf(ModuleOp of) { return StepPlans(of, trainOf(of), 1, OpCosts(), memory); }

  // The plan becomes clones and offsets: of its size, and by no packing but the one that was
  // scored.
  void expectPlacedAsScored(ModuleOp module, const RematPlan &plan) {
    OwningOpRef<ModuleOp> copy = module.clone();
    StepPlans scored = plansOf(*copy);
    int64_t bytes = scored.arenaBytes(plan);
    size_t packings = memory.packer->packings();
    applyRematerialization(scored.function(), plan);
    FailureOr<MemoryPlan> placed = planMemory(*copy, memory);
    ASSERT_TRUE(succeeded(placed));
    EXPECT_EQ(placed->arenaBytes, bytes);
    EXPECT_EQ(memory.packer->packings(), packings) << "something was packed that was not scored";
  }

  // Every budget from the smallest on is met, and less budget never takes less time or more bytes.
  void expectBudgetsMet(StepPlans &plans) {
    int64_t least = plans.arenaBytes(plans.smallest());
    EXPECT_FALSE(plans.fastest(least - 1));
    int64_t most = plans.arenaBytes(plans.keepEverything()), peak = most;
    double seconds = 0;
    for (int i = 0; i <= 20; ++i) {
      int64_t budget = most - (most - least) * i / 20;
      const RematPlan *plan = plans.fastest(budget);
      ASSERT_TRUE(plan) << budget;
      EXPECT_LE(plans.arenaBytes(*plan), std::min(budget, peak));
      EXPECT_GE(plans.seconds(*plan), seconds);
      seconds = plans.seconds(*plan);
      peak = plans.arenaBytes(*plan);
    }
  }

  PlanMemoryOptions memory;
};

TEST_P(StepPlansOf, ArePlacedAsTheyWereScoredAndMeetBudgets) {
  std::mt19937 random(GetParam());
  OwningOpRef<ModuleOp> module = randomTraining(random);
  ASSERT_TRUE(module);
  // Few steps: packings stay above the bound, where other questions get other answers.
  memory.packer = std::make_shared<StepPacker>(1 + random() % 2 * 1000);
  memory.inputSlots = 1 + random() % 2;
  StepPlans plans = plansOf(*module);
  expectBudgetsMet(plans);

  std::vector<RematPlan> some = plans.frontier();
  std::shuffle(some.begin() + 1, some.end(), random);
  some.resize(std::min<size_t>(some.size(), 5)); // the first recomputes nothing
  for (const char *policy : {"all", "sqrt"})
    if (RematPlan plan = *planByPolicy(plans.function().graph, policy, 0);
        scheduleOf(plans.function().graph, plan).valid())
      some.push_back(plan);
  for (const RematPlan &plan : some)
    expectPlacedAsScored(*module, plan);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StepPlansOf, testing::Range(3, 8));

} // namespace
} // namespace gc::test
