//===- ScheduleTest.cpp - orders of random steps --------------------------===//
#include "passes/Schedule.h"
#include "mlir/IR/Verifier.h"
#include "passes/CheckMemory.h"
#include "passes/PlanMemory.h"
#include "test/memory/RandomStep.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace gc::test {
namespace {

int64_t peakOf(func::FuncOp function) { return *llvm::max_element(Liveness(function).liveBytes()); }

// The same ops; a peak that is never higher; and a plan in which every read sees its value, which
// would not be so if an op had passed the update of a variable that it reads.
TEST(Schedule, RandomSteps) {
  DialectRegistry registry;
  registerGcDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  int lower = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    OwningOpRef<ModuleOp> module = randomStep(context, random, 2 + random() % 80);
    for (auto function : module->getOps<func::FuncOp>()) {
      int64_t before = peakOf(function);
      llvm::DenseSet<Operation *> ops;
      for (Operation &op : function.getBody().front())
        ops.insert(&op);
      scheduleForMemory(function);
      EXPECT_LE(peakOf(function), before);
      lower += peakOf(function) < before;
      size_t count = 0;
      for (Operation &op : function.getBody().front())
        count += ops.contains(&op);
      EXPECT_EQ(count, ops.size());
    }
    ASSERT_TRUE(succeeded(verify(*module)));
    PlanMemoryOptions options;
    options.packer = std::make_shared<StepPacker>(5'000);
    FailureOr<MemoryPlan> plan = planMemory(*module, options);
    ASSERT_TRUE(succeeded(plan));
    annotate(*module, *plan);
    ASSERT_TRUE(succeeded(checkMemory(*module)));
  }
  EXPECT_GT(lower, 250);
}

} // namespace
} // namespace gc::test
