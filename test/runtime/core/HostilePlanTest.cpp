// Plans that were damaged by accident, and plans that were made to do harm: their checksum is
// right.
#include "test/runtime/core/SoundPlans.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace gc::runtime;
using namespace gc::test;

namespace {

/// The same plan with something in it changed, and a checksum that is right.
std::vector<std::byte> changed(const std::vector<std::byte> &file,
                               const std::function<void(gc::plan::PlanT &)> &change) {
  gc::plan::PlanT plan;
  gc::plan::GetPlan(file.data() + kPlanHeaderBytes)->UnPackTo(&plan);
  change(plan);
  flatbuffers::FlatBufferBuilder builder;
  gc::plan::FinishPlanBuffer(builder, gc::plan::Plan::Pack(builder, &plan));
  return sealPlan({builder.GetBufferPointer(), builder.GetSize()});
}

/// The checksum of a file that was damaged, computed anew.
void seal(std::vector<std::byte> &file) {
  file = sealPlan({reinterpret_cast<const uint8_t *>(file.data()) + kPlanHeaderBytes,
                   file.size() - kPlanHeaderBytes});
}

std::string refusal(std::span<const std::byte> bytes) {
  auto plan = PlanFile::fromMemory(bytes);
  if (plan)
    return "";
  EXPECT_EQ(plan.error().exitCode(), 2);
  return plan.error().message;
}

/// One number of `soundPlan` that is out of bounds, and a part of the message that says so.
struct Hostile {
  const char *name;
  std::function<void(gc::plan::PlanT &)> change;
  const char *message;
};

gc::plan::CommandT &command(gc::plan::PlanT &plan, size_t index) {
  return *plan.micro_batch->commands.at(index);
}

std::unique_ptr<gc::plan::UpdateT> update(uint32_t parameter, uint32_t gradient) {
  auto result = std::make_unique<gc::plan::UpdateT>();
  result->parameter = parameter, result->gradient = gradient;
  return result;
}

std::unique_ptr<gc::plan::OutputT> output(uint32_t buffer) {
  auto result = std::make_unique<gc::plan::OutputT>();
  result->name = "logits", result->buffer = buffer;
  return result;
}

const Hostile kHostile[] = {
    {"items", [](auto &p) { command(p, 2).operation.AsDispatch()->items = uint64_t(1) << 40; },
     "1099511627776 items, the kernel was generated for 4"},
    {"oneItemMore", [](auto &p) { command(p, 2).operation.AsDispatch()->items = 5; }, "5 items"},
    {"operandTooSmall", [](auto &p) { command(p, 2).operation.AsDispatch()->buffers[1] = 5; },
     "buffer 'c' has 80 bytes, the kernel uses 120"},
    {"operandMissing", [](auto &p) { command(p, 2).operation.AsDispatch()->buffers.pop_back(); },
     "1 buffers, the kernel has 2"},
    {"limitsMissing", [](auto &p) { p.kernels->limits.clear(); }, "1 kernels, but limits of 0"},
    {"arena", [](auto &p) { p.arena_bytes = uint64_t(1) << 46; }, "its buffers end at"},
    {"batch", [](auto &p) { p.batch = p.micro_batches = int64_t(1) << 40; }, "not possible"},
    {"unevenBatch", [](auto &p) { p.batch = 3, p.micro_batches = 2; }, "not possible"},
    {"classes", [](auto &p) { p.classes = int64_t(1) << 40; }, "not possible"},
    {"threads", [](auto &p) { p.target->threads = 0xffffffff; }, "4294967295 threads"},
    {"rank", [](auto &p) { p.buffers[3]->shape.assign(9, 1); }, "9 dimensions"},
    {"fileRank",
     [](auto &p) { p.variables[0]->file_shape.insert(p.variables[0]->file_shape.end(), 9, 1); },
     "more than 8 dimensions"},
    {"lastCommand", [](auto &p) { p.buffers[3]->last_command = 1 << 30; }, "lives from command"},
    {"firstCommand", [](auto &p) { p.buffers[3]->first_command = -2; }, "lives from command"},
    {"partOfItself", [](auto &p) { p.buffers[3]->part_of = 3; }, "expected one before it"},
    {"partOfNothing", [](auto &p) { p.buffers[3]->part_of = -2; }, "expected one before it"},
    {"partOutside", [](auto &p) { p.buffers[3]->part_of = 0; }, "leaves 'x'"},
    {"generator", [](auto &p) { p.variables[0]->role = gc::plan::VariableRole_Generator; },
     "two 64-bit integers"},
    {"stride",
     [](auto &p) { command(p, 0).operation.AsConvolution()->spec->stride_h = 0x7fffffff; },
     "a kernel, stride or dilation of 2147483647"},
    {"dilation",
     [](auto &p) { command(p, 0).operation.AsConvolution()->spec->dilation_w = 0x7fffffff; },
     "a kernel, stride or dilation of 2147483647"},
    {"groups", [](auto &p) { command(p, 0).operation.AsConvolution()->spec->groups = 3; },
     "3 groups do not divide"},
    {"windowScale", [](auto &p) { p.window_scale = 7; }, "the window's scale is variable 7 of 1"},
    {"learningRates", [](auto &p) { p.learning_rate = 7; },
     "the learning rates are variable 7 of 1"},
    {"learningRatesAreNoRing", [](auto &p) { p.learning_rate = 0; },
     "the learning rates are no ring of f32"},
    {"averageOfNothing", [](auto &p) { p.variables[0]->average = 5; },
     "names variable 5 of 1 as its average"},
    {"averageOfItself", [](auto &p) { p.variables[0]->average = 0; },
     "has an average of another shape, dtype or role"},
    {"transients", [](auto &p) { p.transients = -5; }, "the transient pool is buffer -5"},
    {"transientsInUse",
     [](auto &p) { p.transients = 4, p.buffers[5]->offset = p.buffers[4]->offset; },
     "buffer 'c' overlaps the transient pool 'b'"},
    {"inputRole", [](auto &p) { p.inputs[0]->role = static_cast<gc::plan::InputRole>(9); },
     "unknown role"},
    {"metricTwice",
     [](auto &p) { p.metrics.push_back(std::make_unique<gc::plan::MetricT>(*p.metrics[0])); },
     "metric 'loss' is there twice"},
    {"outputOfNothing", [](auto &p) { p.outputs.push_back(output(99)); },
     "output 'logits' names buffer 99"},
    {"outputOfTraining", [](auto &p) { p.outputs.push_back(output(0)); },
     "is not a row for each sample of a micro-batch that is evaluated"},
    {"reduction", [](auto &p) { p.metrics[0]->reduction = static_cast<gc::plan::Reduction>(9); },
     "reduced in an unknown way"},
    {"dtype", [](auto &p) { p.buffers[3]->dtype = static_cast<gc::plan::DType>(99); },
     "unknown kind or dtype"},
    {"updateOfNothing", [](auto &p) { command(p, 2).update = update(3, 0); },
     "updates variable 3 of 1"},
    {"updateByNothing", [](auto &p) { command(p, 2).update = update(0, 77); }, "77"},
    {"partUpdatesNothing",
     [](auto &p) {
       auto part = std::make_unique<gc::plan::CommandPartT>();
       part->update = update(3, 0);
       command(p, 2).parts.push_back(std::move(part));
     },
     "updates variable 3 of 1"},
    {"updateTooSmall", [](auto &p) { command(p, 2).update = update(0, 5); },
     "updates 'w' by a gradient of fewer bytes"},
    {"workspaceInOperand", [](auto &p) { p.buffers[2]->offset = p.buffers[6]->offset; },
     "overlaps operand 'y'"},
    {"endlessSum",
     [](auto &p) {
       gc::plan::MatMulSpecT &product = *command(p, 1).operation.AsMatMul()->spec;
       product.k = 0x7fffffff, product.a_strides = {6, 0}, product.b_strides = {0, 1};
     },
     "stride of 0 along the sum"},
};

} // namespace

TEST(HostilePlan, EveryTruncationIsAnError) {
  for (const std::vector<std::byte> &bytes : {soundPlan(), soundCudaPlan()})
    for (size_t length = 0; length < bytes.size(); ++length)
      ASSERT_NE(refusal({bytes.data(), length}), "")
          << "the first " << length << " of " << bytes.size() << " bytes";
}

TEST(HostilePlan, EveryBitCounts) {
  for (std::vector<std::byte> file : {soundPlan(), soundCudaPlan(/*cubin=*/false)})
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
      file[bit / 8] ^= std::byte(1 << bit % 8);
      ASSERT_NE(refusal(file), "") << "bit " << bit;
      file[bit / 8] ^= std::byte(1 << bit % 8);
    }
}

TEST(HostilePlan, SaysWhatIsWrongWithAFile) {
  std::vector<std::byte> file = soundPlan();
  auto expect = [](std::span<const std::byte> bytes, const char *part) {
    EXPECT_NE(refusal(bytes).find(part), std::string::npos) << refusal(bytes);
  };
  std::vector<std::byte> other = file;
  other[8] = std::byte(99);
  expect(other, "has version 99, this runtime reads version 5; compile it again");
  expect(std::span(file).subspan(kPlanHeaderBytes), "has version 2 or older"); // as it was then
  expect(std::span(file).first(0), "is not a plan: it is empty");
  expect(std::span(file).first(20), "is truncated: it has 20 bytes, its header 24");
  expect(std::span(file).first(1000), "is truncated: 976 bytes follow its header, which promises");
  other = file;
  other.push_back(std::byte(0));
  expect(other, "is too long: ");
  other = file;
  other.back() ^= std::byte(1);
  expect(other, "is corrupt: its checksum is ");
  other = file;
  other[0] = std::byte('m');
  expect(other, "is not a plan: it does not begin as plans do");
  expect(sealPlan({}), "its tables are not in order");
}

// With the checksum computed anew, those flips that leave a sound plan (a letter of a name) pass.
// None may crash, and what passes keeps every buffer inside its arena.
TEST(HostilePlan, SealedBitFlipsNeverCrash) {
  // Without the cubin, which is most of a plan and not looked into.
  const std::vector<std::byte> plans[] = {soundPlan(), soundCudaPlan(/*cubin=*/false)};
  std::mt19937 random(1);
  size_t refused = 0;
  for (int round = 0; round < 40000; ++round) {
    std::vector<std::byte> damaged = plans[round % 2];
    for (int flips = 1 + round % 3; flips > 0; --flips)
      damaged[kPlanHeaderBytes + random() % (damaged.size() - kPlanHeaderBytes)] ^=
          std::byte(1 << random() % 8);
    seal(damaged);
    auto plan = PlanFile::fromMemory(damaged);
    if (!plan) {
      ++refused;
      continue;
    }
    for (const gc::plan::Buffer *buffer : *plan->get().buffers())
      ASSERT_LE(buffer->offset() + buffer->bytes(), plan->get().arena_bytes());
  }
  EXPECT_GT(refused, 10000u);
}

TEST(HostilePlan, EveryNumberHasBounds) {
  std::vector<std::byte> sound = soundPlan();
  ASSERT_EQ(refusal(changed(sound, [](auto &) {})), "");
  for (const Hostile &hostile : kHostile) {
    std::string message = refusal(changed(sound, hostile.change));
    EXPECT_NE(message, "") << hostile.name << " was accepted";
    EXPECT_NE(message.find(hostile.message), std::string::npos) << hostile.name << ": " << message;
  }
}
