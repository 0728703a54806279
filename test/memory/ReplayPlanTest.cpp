//===- ReplayPlanTest.cpp - sound plans replay, others are told apart -----===//
#include "compiler/ReplayPlan.h"
#include "runtime/plan/Plan_generated.h"
#include <gtest/gtest.h>

using namespace gc;

namespace {

/// Small plans, one command after the other. Every buffer has 64 bytes unless said otherwise.
class PlanText {
public:
  PlanText() {
    plan.model = "test";
    plan.target = std::make_unique<plan::TargetT>();
    plan.target->device = "cpu";
    plan.memory = std::make_unique<plan::MemoryT>();
    plan.arena_bytes = 4096;
    plan.micro_batches = 1;
  }

  int buffer(const char *name, uint64_t offset, int first, int last, uint64_t bytes = 64,
             plan::BufferKind kind = plan::BufferKind_Activation) {
    auto b = std::make_unique<plan::BufferT>();
    b->name = name;
    b->kind = kind;
    b->dtype = plan::DType_F32;
    b->shape = {static_cast<int64_t>(bytes / 4)};
    b->offset = offset;
    b->bytes = bytes;
    b->first_command = first;
    b->last_command = last;
    plan.buffers.push_back(std::move(b));
    return static_cast<int>(plan.buffers.size()) - 1;
  }
  int part(int whole, uint64_t offset, uint64_t bytes) {
    const plan::BufferT &from = *plan.buffers[whole];
    int index = buffer("part", from.offset + offset, from.first_command, from.last_command, bytes);
    plan.buffers[index]->part_of = whole;
    return index;
  }
  int variable(const char *name, uint64_t offset) {
    int index = buffer(name, offset, 0, 100, 64, plan::BufferKind_Parameter);
    auto v = std::make_unique<plan::VariableT>();
    v->name = name;
    v->buffer = static_cast<uint32_t>(index);
    plan.variables.push_back(std::move(v));
    return index;
  }
  int input(const char *name, uint64_t offset) {
    int index = buffer(name, offset, 0, 100, 64, plan::BufferKind_Input);
    auto i = std::make_unique<plan::InputT>();
    i->name = name;
    i->slots = {static_cast<uint32_t>(index)};
    plan.inputs.push_back(std::move(i));
    return index;
  }

  template <typename T> void add(T operation, std::unique_ptr<plan::CommandListT> &list) {
    if (!list)
      list = std::make_unique<plan::CommandListT>();
    auto command = std::make_unique<plan::CommandT>();
    command->name = "op" + std::to_string(list->commands.size());
    command->operation.Set(std::move(operation));
    list->commands.push_back(std::move(command));
  }
  /// A kernel that reads some buffers and writes others.
  void run(std::vector<int> reads, std::vector<int> writes) {
    run(reads, writes, plan.micro_batch);
  }
  void run(std::vector<int> reads, std::vector<int> writes,
           std::unique_ptr<plan::CommandListT> &list) {
    plan::DispatchT dispatch;
    for (int read : reads) {
      dispatch.buffers.push_back(static_cast<uint32_t>(read));
      dispatch.access.push_back(plan::Access_Read);
    }
    for (int written : writes) {
      dispatch.buffers.push_back(static_cast<uint32_t>(written));
      dispatch.access.push_back(plan::Access_Write);
    }
    add(std::move(dispatch), list);
  }

  PlanReplay replay() const {
    flatbuffers::FlatBufferBuilder builder;
    plan::FinishPlanBuffer(builder, plan::Plan::Pack(builder, &plan));
    return replayPlan(*plan::GetPlan(builder.GetBufferPointer()));
  }

  plan::PlanT plan;
};

void expectFault(const PlanText &plan, const std::string &part) {
  std::string error = plan.replay().error;
  EXPECT_NE(error.find(part), std::string::npos) << "got: " << error;
}

struct ReplayPlan : ::testing::Test, PlanText {
  void addLoss(int buffer) {
    auto metric = std::make_unique<plan::MetricT>();
    metric->name = "loss";
    metric->buffer = static_cast<uint32_t>(buffer);
    plan.metrics.push_back(std::move(metric));
  }
  // The variable at 0, the input at 64; transients from 128.
  int w = variable("w", 0), x = input("x", 64);
};

TEST_F(ReplayPlan, AcceptsReuseAfterDeath) {
  int a = buffer("a", 128, 0, 1), b = buffer("b", 192, 1, 2), c = buffer("c", 128, 2, 2);
  run({w, x}, {a});
  run({a}, {b});
  run({b}, {c});
  addLoss(c);
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
  EXPECT_EQ(replayed.text(),
            "replayed 3 commands, 5 buffers: no overlap, every read sees its value");
}

TEST_F(ReplayPlan, AcceptsTakingOverInPlace) {
  int a = buffer("a", 128, 0, 1), b = buffer("b", 128, 1, 1);
  run({x}, {a});
  run({a}, {b});
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
}

TEST_F(ReplayPlan, RejectsTakingOverTooEarly) {
  int a = buffer("a", 128, 0, 2), b = buffer("b", 128, 1, 2);
  run({x}, {a});
  run({x}, {b});
  run({a, b}, {});
  expectFault(*this, "overlaps buffer 2 'a' at bytes [128, 192) (commands 0 to 2) while both live");
}

TEST_F(ReplayPlan, RejectsPartialTakingOver) {
  int a = buffer("a", 128, 0, 1, 128), b = buffer("b", 192, 1, 1);
  run({x}, {a});
  run({a}, {b});
  expectFault(*this, "while both live");
}

TEST_F(ReplayPlan, RejectsTransientsOnPersistentBytes) {
  int a = buffer("a", 0, 0, 0);
  run({x}, {a});
  expectFault(*this, "'w' at bytes [0, 64)");
}

TEST_F(ReplayPlan, RejectsTransientsOnReservedBytes) {
  buffer("reserved", 256, 0, 0, 64, plan::BufferKind_Workspace);
  int a = buffer("a", 256, 0, 0);
  run({x}, {a});
  expectFault(*this, "'reserved' at bytes [256, 320)");
}

TEST_F(ReplayPlan, RejectsReadingWhatNobodyWrote) {
  int a = buffer("a", 128, 0, 1), b = buffer("b", 192, 0, 1);
  run({x}, {b});
  run({a}, {b});
  expectFault(*this, "micro_batch command 1 'op1': buffer 2 'a' at bytes [128, 192) is read, but "
                     "bytes [128, 192) were never written");
}

// The successor in the same place reads before it writes: it would see its predecessor.
TEST_F(ReplayPlan, RejectsReadingAPredecessor) {
  int a = buffer("a", 128, 0, 0), b = buffer("b", 128, 1, 1), c = buffer("c", 192, 1, 1);
  run({x}, {a});
  run({b}, {c});
  expectFault(*this,
              "hold buffer 2 'a' at bytes [128, 192), written by micro_batch command 0 'op0'");
}

TEST_F(ReplayPlan, RejectsUseOutsideOfALife) {
  int a = buffer("a", 128, 0, 0), b = buffer("b", 192, 1, 1);
  run({x}, {a});
  run({a}, {b});
  expectFault(*this, "uses buffer 2 'a' at bytes [128, 192) outside of its life, commands 0 to 0");
}

TEST_F(ReplayPlan, RejectsLivesBeyondTheList) {
  int a = buffer("a", 128, 0, 7);
  run({x}, {a});
  expectFault(*this, "lives in commands 0 to 7 of 1");
}

TEST_F(ReplayPlan, RejectsWritingAnInput) {
  run({w}, {x});
  expectFault(*this, "writes the input buffer 1 'x'");
}

TEST_F(ReplayPlan, RejectsKernelsThatDoNotSay) {
  plan::DispatchT dispatch;
  dispatch.buffers = {static_cast<uint32_t>(w)};
  add(std::move(dispatch), plan.micro_batch);
  expectFault(*this, "does not say what its kernel reads and writes");
}

TEST_F(ReplayPlan, FollowsLaunchesAndLibraryGraphs) {
  int a = buffer("a", 128, 0, 1), b = buffer("b", 192, 1, 2), c = buffer("c", 256, 2, 2);
  auto ids = [](std::vector<int> indices) {
    return std::vector<uint32_t>(indices.begin(), indices.end());
  };
  plan::LaunchT launch;
  launch.buffers = ids({x, a});
  launch.access = {plan::Access_Read, plan::Access_Write};
  launch.grid = std::make_unique<plan::Extent>(1, 1, 1);
  launch.block = std::make_unique<plan::Extent>(1, 1, 1);
  add(std::move(launch), plan.micro_batch);
  auto graph = std::make_unique<plan::LibraryGraphT>();
  graph->name = graph->plan = "g";
  plan.graphs.push_back(std::move(graph));
  plan::GraphCallT call;
  call.ids = {1, 2};
  call.buffers = {plan::View(static_cast<uint32_t>(a), 0), plan::View(static_cast<uint32_t>(b), 0)};
  call.access = {plan::Access_Read, plan::Access_Write};
  add(std::move(call), plan.micro_batch);
  run({b}, {c});
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
  // The second half of b is not written any more.
  plan.micro_batch->commands[1]->operation.AsGraphCall()->buffers[1] =
      plan::View(static_cast<uint32_t>(b), 8);
  expectFault(*this, "bytes [192, 224) were never written");
  plan.micro_batch->commands[1]->operation.AsGraphCall()->access.pop_back();
  expectFault(*this, "does not say what its kernel reads and writes");
}

// The generated kernels that may run instead of a graph have its buffers and its workspace.
TEST_F(ReplayPlan, RejectsATwinThatTouchesWhatItsGraphDoesNot) {
  int a = buffer("a", 128, 0, 1), b = buffer("b", 192, 1, 1),
      scratch = buffer("scratch", 256, 1, 1, 64, plan::BufferKind_Workspace),
      other = buffer("other", 320, 0, 1);
  run({x}, {a, other});
  auto graph = std::make_unique<plan::LibraryGraphT>();
  graph->name = graph->plan = "g";
  plan.graphs.push_back(std::move(graph));
  plan::GraphCallT call;
  call.ids = {1, 2};
  call.buffers = {plan::View(static_cast<uint32_t>(a), 0), plan::View(static_cast<uint32_t>(b), 0)};
  call.access = {plan::Access_Read, plan::Access_Write};
  call.workspace = scratch;
  call.twin.push_back(std::make_unique<plan::LaunchT>());
  call.twin[0]->grid = std::make_unique<plan::Extent>(1, 1, 1);
  call.twin[0]->block = std::make_unique<plan::Extent>(1, 1, 1);
  add(std::move(call), plan.micro_batch);
  plan::LaunchT &launch = *plan.micro_batch->commands[1]->operation.AsGraphCall()->twin[0];
  auto touches = [&](std::vector<int> buffers, std::vector<plan::Access> access) {
    launch.buffers.assign(buffers.begin(), buffers.end());
    launch.access = std::move(access);
  };
  touches({a, b, scratch}, {plan::Access_Read, plan::Access_ReadWrite, plan::Access_ReadWrite});
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
  touches({a, b}, {plan::Access_ReadWrite, plan::Access_Write});
  expectFault(*this, "has a generated twin that touches buffer 'a', or writes it");
  touches({other, b}, {plan::Access_Read, plan::Access_Write});
  expectFault(*this, "has a generated twin that touches buffer 'other'");
  touches({a, b}, {plan::Access_Read});
  expectFault(*this, "does not say what its kernel reads and writes");
}

TEST_F(ReplayPlan, RejectsALaunchThatReadsWhatNothingWrote) {
  int a = buffer("a", 128, 0, 0), b = buffer("b", 192, 0, 0);
  plan::LaunchT launch;
  launch.buffers = {static_cast<uint32_t>(a), static_cast<uint32_t>(b)};
  launch.access = {plan::Access_Read, plan::Access_Write};
  launch.grid = std::make_unique<plan::Extent>(1, 1, 1);
  launch.block = std::make_unique<plan::Extent>(1, 1, 1);
  add(std::move(launch), plan.micro_batch);
  expectFault(*this, "were never written");
}

TEST_F(ReplayPlan, PartsShareTheBytesOfTheirWhole) {
  int a = buffer("a", 128, 0, 2, 128), low = part(a, 0, 64), high = part(a, 64, 64);
  int b = buffer("b", 256, 2, 2);
  run({x}, {low});
  run({x}, {high});
  run({a}, {b});
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
}

TEST_F(ReplayPlan, RejectsAWholeWithAMissingPart) {
  int a = buffer("a", 128, 0, 1, 128), low = part(a, 0, 64), b = buffer("b", 256, 1, 1);
  run({x}, {low});
  run({a}, {b});
  expectFault(*this, "bytes [192, 256) were never written");
}

TEST_F(ReplayPlan, RejectsPartsOutsideOfTheirWhole) {
  int a = buffer("a", 128, 0, 0);
  part(a, 64, 64);
  run({x}, {a});
  expectFault(*this, "is not inside buffer 2 'a'");
}

// c = a b, 4 x 4 each; c in the columns of a row of eight. The other half is missing.
TEST_F(ReplayPlan, FollowsStrides) {
  int c = buffer("c", 128, 0, 2, 128), d = buffer("d", 256, 2, 2);
  auto product = [&](uint64_t column) {
    plan::MatMulT p;
    p.spec = std::make_unique<plan::MatMulSpecT>();
    p.spec->m = p.spec->n = p.spec->k = 4;
    p.a = std::make_unique<plan::View>(w, 0);
    p.b = std::make_unique<plan::View>(x, 0);
    p.c = std::make_unique<plan::View>(c, column);
    p.spec->a_strides = p.spec->b_strides = {4, 1};
    p.spec->c_strides = {8, 1};
    return p;
  };
  add(product(0), plan.micro_batch);
  add(product(4), plan.micro_batch);
  run({c}, {d});
  PlanReplay whole = replay();
  EXPECT_TRUE(whole.ok()) << whole.error;
  // Row 0 of the left half ends after 16 bytes.
  plan.micro_batch->commands[1]->operation.Set(product(0));
  expectFault(*this, "bytes [144, 160) were never written");
}

TEST_F(ReplayPlan, RejectsAProductOverItsFactor) {
  int a = buffer("a", 128, 0, 1);
  run({x}, {a});
  plan::MatMulT p;
  p.spec = std::make_unique<plan::MatMulSpecT>();
  p.spec->m = p.spec->n = p.spec->k = 4;
  p.a = std::make_unique<plan::View>(a, 0);
  p.b = std::make_unique<plan::View>(w, 0);
  p.c = std::make_unique<plan::View>(a, 0);
  p.spec->a_strides = p.spec->b_strides = p.spec->c_strides = {4, 1};
  add(std::move(p), plan.micro_batch);
  expectFault(*this, "over bytes of buffer 2 'a' at bytes [128, 192) that it uses itself");
}

TEST_F(ReplayPlan, AcceptsAProductOverItsResidual) {
  int a = buffer("a", 128, 0, 1);
  run({x}, {a});
  plan::MatMulT p;
  p.spec = std::make_unique<plan::MatMulSpecT>();
  p.spec->m = p.spec->n = p.spec->k = 4;
  p.a = std::make_unique<plan::View>(x, 0);
  p.b = std::make_unique<plan::View>(w, 0);
  p.c = std::make_unique<plan::View>(a, 0);
  p.spec->a_strides = p.spec->b_strides = p.spec->c_strides = {4, 1};
  p.spec->residual = true;
  p.residual = a;
  add(std::move(p), plan.micro_batch);
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
}

TEST_F(ReplayPlan, RejectsScratchOnAnOperand) {
  int a = buffer("a", 128, 0, 1), s = buffer("s", 128, 1, 1, 64, plan::BufferKind_Workspace);
  int c = buffer("c", 192, 1, 1);
  run({x}, {a});
  plan::MatMulT p;
  p.spec = std::make_unique<plan::MatMulSpecT>();
  p.spec->m = p.spec->n = p.spec->k = 4;
  p.a = std::make_unique<plan::View>(a, 0);
  p.b = std::make_unique<plan::View>(w, 0);
  p.c = std::make_unique<plan::View>(c, 0);
  p.spec->a_strides = p.spec->b_strides = p.spec->c_strides = {4, 1};
  p.workspace = s;
  add(std::move(p), plan.micro_batch);
  expectFault(*this, "that it uses itself");
}

TEST_F(ReplayPlan, RejectsALossThatIsGone) {
  int loss = buffer("loss", 128, 0, 0), b = buffer("b", 128, 1, 1);
  run({x}, {loss});
  run({x}, {b});
  addLoss(loss);
  expectFault(*this, "after the micro-batch: buffer 2 'loss'");
}

// Lives of the step list count on from those of the micro-batch.
TEST_F(ReplayPlan, RejectsAGradientThatTheStepOverwrites) {
  int g = buffer("g", 128, 0, 0), b = buffer("b", 128, 1, 1);
  run({x}, {g});
  run({w}, {b}, plan.step);
  plan.variables[0]->gradient_buffer = g;
  expectFault(*this, "after the step: buffer 2 'g'");
  plan.variables[0]->gradient_buffer = -1;
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
}

TEST_F(ReplayPlan, ListsOfInferenceAndTrainingShareBytes) {
  int a = buffer("a", 128, 0, 0), e = buffer("e", 128, 0, 0);
  plan.buffers[e]->evaluate = true;
  run({x, w}, {a});
  run({x, w}, {e}, plan.evaluate);
  PlanReplay replayed = replay();
  EXPECT_TRUE(replayed.ok()) << replayed.error;
  run({a}, {e}, plan.evaluate);
  plan.buffers[e]->last_command = 1;
  expectFault(*this, "evaluate command 1 'op1' uses buffer 2 'a'");
}

TEST(ReplayPlanBytes, RejectsGarbage) {
  std::vector<uint8_t> bytes(100, 7);
  EXPECT_FALSE(replayPlan(std::span<const uint8_t>(bytes)).ok());
}

} // namespace
