//===- CheckMemoryTest.cpp - the checker accepts plans, and only those ----===//
#include "passes/CheckMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/PlanMemory.h"
#include "test/memory/RandomStep.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace gc::test {
namespace {

/// Keeps what is reported, and off the screen.
struct Messages {
  explicit Messages(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          text += diagnostic.str() + "\n";
          return success();
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};

MLIRContext &context() {
  static MLIRContext *made = [] {
    DialectRegistry registry;
    registerGcDialects(registry);
    auto *fresh = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    fresh->loadAllAvailableDialects();
    return fresh;
  }();
  return *made;
}

bool isView(Operation *op) {
  auto inPlace = dyn_cast<InPlaceOpInterface>(op);
  return inPlace && inPlace.isView();
}

// The last op that really reads the value, by itself or through views.
Operation *lastReader(Value value) {
  Operation *last = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *reader = isView(user) ? lastReader(user->getResult(0)) : user;
    if (reader && (!last || last->isBeforeInBlock(reader)))
      last = reader;
  }
  return last;
}

void moveTo(Value value, int64_t offset) {
  value.getDefiningOp()->setAttr("gc.offsets",
                                 Builder(value.getContext()).getDenseI64ArrayAttr({offset}));
  for (Operation *user : value.getUsers())
    if (isView(user))
      moveTo(user->getResult(0), offset);
}

/// Puts a result or workspace onto a value that is read later, and says so; false where this draw
/// hits nothing. All results are single, all sizes positive.
bool mutate(func::FuncOp function, std::mt19937 &random) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    if (op.hasAttr("gc.offsets") && !isView(&op))
      ops.push_back(&op);
  if (ops.size() < 2)
    return false;
  size_t early = random() % (ops.size() - 1);
  Operation *victim = ops[early], *intruder = ops[early + 1 + random() % (ops.size() - early - 1)];
  Operation *reader = lastReader(victim->getResult(0));
  int64_t offset = cast<DenseI64ArrayAttr>(victim->getAttr("gc.offsets"))[0];
  bool byWorkspace = intruder->hasAttr("gc.workspace_offset") && random() % 2;
  // A result at the reader itself may be in place; a workspace there may not.
  if (!reader || reader->isBeforeInBlock(intruder) || (reader == intruder && !byWorkspace))
    return false;
  if (byWorkspace)
    intruder->setAttr("gc.workspace_offset",
                      Builder(function.getContext()).getI64IntegerAttr(offset));
  else
    moveTo(intruder->getResult(0), offset);
  return true;
}

TEST(CheckMemory, AcceptsPlansAndRejectsOverlaps) {
  int rejected = 0, plans = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    OwningOpRef<ModuleOp> module = randomStep(context(), random, 2 + random() % 80);
    ASSERT_TRUE(succeeded(verify(*module)));
    PlanMemoryOptions options;
    options.packer = std::make_shared<StepPacker>(20'000);
    options.inputSlots = 1 + random() % 3;
    options.reserve = random() % 2 ? 4096 : 0;
    FailureOr<MemoryPlan> plan = planMemory(*module, options);
    ASSERT_TRUE(succeeded(plan));
    annotate(*module, *plan);
    FailureOr<MemoryReplay> replay = checkMemory(*module);
    ASSERT_TRUE(succeeded(replay));
    EXPECT_LE(replay->usedBytes, plan->arenaBytes);
    ++plans;
    for (int i = 0; i < 10; ++i) {
      OwningOpRef<ModuleOp> broken = module->clone();
      if (!mutate(*broken->getOps<func::FuncOp>().begin(), random))
        continue;
      Messages messages(context());
      ASSERT_TRUE(failed(checkMemory(*broken))) << "two live values share bytes, unnoticed";
      EXPECT_EQ(messages.text.find("is a view"), std::string::npos) << messages.text;
      ++rejected;
    }
  }
  EXPECT_EQ(plans, 1000);
  EXPECT_GT(rejected, 1000) << "the mutations hit too little to mean anything";
}

TEST(CheckMemory, RejectsResultsOnVariablesAndInputs) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    OwningOpRef<ModuleOp> module = randomStep(context(), random, 20);
    PlanMemoryOptions options;
    options.packer = std::make_shared<StepPacker>(20'000);
    FailureOr<MemoryPlan> plan = planMemory(*module, options);
    ASSERT_TRUE(succeeded(plan));
    annotate(*module, *plan);
    for (const PlannedBuffer &buffer : plan->buffers) {
      if (buffer.kind != StorageKind::Variable && buffer.kind != StorageKind::Input)
        continue;
      OwningOpRef<ModuleOp> broken = module->clone();
      Operation *last = nullptr;
      for (Operation &op : (*broken->getOps<func::FuncOp>().begin()).getBody().front())
        if (op.hasAttr("gc.offsets") && !isView(&op))
          last = &op;
      ASSERT_NE(last, nullptr);
      moveTo(last->getResult(0), buffer.offset);
      Messages messages(context());
      ASSERT_TRUE(failed(checkMemory(*broken))) << buffer.name << ", seed " << seed;
      EXPECT_NE(messages.text.find("overwrites"), std::string::npos) << messages.text;
    }
  }
}

} // namespace
} // namespace gc::test
