#include "runtime/weights/VariableStore.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/Safetensors.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <sys/resource.h>

using namespace gc::runtime;
namespace plan = gc::plan;

namespace {

/// Buffers of their own, one allocation each, so that a write past an end is found.
struct HeapAccess : BufferAccess {
  std::vector<std::vector<std::byte>> buffers;
  Result<std::byte *> map(uint32_t buffer) override { return buffers.at(buffer).data(); }
  Status unmap(uint32_t, bool) override { return {}; }
  template <class T> std::vector<T> values(size_t buffer) const {
    const T *begin = reinterpret_cast<const T *>(buffers[buffer].data());
    return {begin, begin + buffers[buffer].size() / sizeof(T)};
  }
};

/// conv.weight (O=2, I=3, H=1, W=2; OHWI inside) with a kept gradient, bn.running_mean (2),
/// conv.weight.momentum (as the weight), generator.
struct SmallPlan {
  flatbuffers::FlatBufferBuilder builder;
  HeapAccess access;
  std::vector<flatbuffers::Offset<plan::Buffer>> buffers;
  std::vector<flatbuffers::Offset<plan::Variable>> variables;
  int average = -1; // of conv.weight

  uint32_t buffer(plan::DType dtype, std::vector<int64_t> shape, uint64_t bytes) {
    buffers.push_back(plan::CreateBufferDirect(builder, "b", plan::BufferKind_Parameter, dtype,
                                               &shape, 0, bytes, 0, 0));
    access.buffers.emplace_back(bytes);
    return static_cast<uint32_t>(buffers.size() - 1);
  }
  void variable(const char *name, uint32_t buffer, plan::VariableRole role,
                std::vector<int64_t> shape, std::vector<int64_t> split = {},
                std::vector<int32_t> permutation = {}, plan::InitKind kind = plan::InitKind_Normal,
                double a = 0, double b = 1, int gradient = -1, int average = -1) {
    auto init = plan::CreateInitializer(builder, kind, a, b);
    variables.push_back(plan::CreateVariableDirect(builder, name, buffer, role, init, &shape,
                                                   &split, &permutation, gradient, average));
  }
  const plan::Plan &finish() {
    auto target = plan::CreateTargetDirect(builder, "cpu");
    auto memory = plan::CreateMemory(builder);
    builder.Finish(
        plan::CreatePlanDirect(builder, "small", target, 4, 1, 12, 0, memory, &buffers, &variables),
        plan::PlanIdentifier());
    return *plan::GetPlan(builder.GetBufferPointer());
  }
  const plan::Plan &usual(bool permuted = true) {
    std::vector<int64_t> split = {2, 3, 1, 2};
    std::vector<int32_t> permutation = {0, 2, 3, 1};
    if (!permuted) {
      split.clear();
      permutation.clear();
    }
    uint32_t weight = buffer(plan::DType_F32, {2, 1, 2, 3}, 48);
    uint32_t mean = buffer(plan::DType_F32, {2}, 8);
    uint32_t momentum = buffer(plan::DType_F32, {2, 1, 2, 3}, 48);
    uint32_t generator = buffer(plan::DType_I64, {2}, 16);
    uint32_t gradient = buffer(plan::DType_F32, {2, 1, 2, 3}, 48);
    variable("conv.weight", weight, plan::VariableRole_Parameter, {2, 3, 1, 2}, split, permutation,
             plan::InitKind_Normal, 0, 1, static_cast<int>(gradient), average);
    variable("bn.running_mean", mean, plan::VariableRole_RunningStatistic, {2}, {}, {},
             plan::InitKind_Constant, 0.25);
    variable("conv.weight.momentum", momentum, plan::VariableRole_OptimizerState, {2, 3, 1, 2},
             split, permutation, plan::InitKind_Constant, 0);
    variable("generator", generator, plan::VariableRole_Generator, {2}, {}, {},
             plan::InitKind_Constant, 0);
    return finish();
  }
};

VariableStore storeOf(SmallPlan &small, bool permuted = true) {
  auto store = VariableStore::create(small.usual(permuted), small.access);
  EXPECT_TRUE(store.ok()) << store.error().message;
  return std::move(*store);
}

const std::string weightAndMean =
    R"("conv.weight":{"dtype":"F32","shape":[2,3,1,2],"data_offsets":[0,48]},)"
    R"("bn.running_mean":{"dtype":"F32","shape":[2],"data_offsets":[48,56]})";
const std::string fourteenFloats =
    bytesOf<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) + bytesOf<float>({20, 21});

} // namespace

TEST(VariableStore, LoadsIntoTheInsideLayoutAndBack) {
  TestDirectory directory;
  SmallPlan small;
  VariableStore store = storeOf(small);
  std::string path =
      directory.write("in", safetensorsBytes("{" + weightAndMean + "}", fourteenFloats));
  Status loaded = store.load(path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(small.access.values<float>(0),
            (std::vector<float>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
  EXPECT_EQ(small.access.values<float>(1), (std::vector<float>{20, 21}));

  ASSERT_TRUE(store.save(directory.file("out")).ok());
  auto saved = SafetensorsFile::open(directory.file("out"));
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->tensors().size(), 2u) << "optimizer state does not belong into a weight file";
  float values[12];
  ASSERT_TRUE(saved->readFloats(*saved->find("conv.weight"), 0, values, 12).ok());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(values[i], i);
}

TEST(VariableStore, AveragesBeginAsTheWeightsAndAreSavedForThem) {
  TestDirectory directory;
  SmallPlan small;
  small.average = 2;
  VariableStore store = storeOf(small);
  ASSERT_TRUE(store.initialize(7).ok());
  EXPECT_EQ(small.access.values<float>(2), small.access.values<float>(0));
  EXPECT_NE(small.access.values<float>(2)[0], 0);
  std::string path =
      directory.write("in", safetensorsBytes("{" + weightAndMean + "}", fourteenFloats));
  ASSERT_TRUE(store.load(path).ok());
  const std::vector<float> inside{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
  EXPECT_EQ(small.access.values<float>(2), inside);

  // Training moves the weights; the average lags behind, and is what is saved.
  std::memset(small.access.buffers[0].data(), 0, 48);
  ASSERT_TRUE(store.save(directory.file("out")).ok());
  EXPECT_EQ(directory.read("out").substr(directory.read("out").size() - 48),
            directory.read("in").substr(directory.read("in").size() - 56, 48))
      << "in the layout of files";
  ASSERT_TRUE(store.saveState(directory.file("state"), {}).ok());
  std::memset(small.access.buffers[2].data(), 0, 48);
  ASSERT_TRUE(store.loadState(directory.file("state")).ok());
  EXPECT_EQ(small.access.values<float>(0), std::vector<float>(12, 0)) << "a checkpoint has both";
  EXPECT_EQ(small.access.values<float>(2), inside);
}

TEST(VariableStore, LearningRatesAreNoState) {
  TestDirectory directory;
  SmallPlan small;
  small.variable("learning_rate", small.buffer(plan::DType_F32, {4}, 16),
                 plan::VariableRole_Schedule, {4}, {}, {}, plan::InitKind_Constant, 0.5);
  auto store = VariableStore::create(small.finish(), small.access);
  ASSERT_TRUE(store.ok()) << store.error().message;
  ASSERT_TRUE(store->initialize(0).ok());
  EXPECT_EQ(small.access.values<float>(0), std::vector<float>(4, 0.5));
  ASSERT_TRUE(store->saveState(directory.file("state"), {}).ok());
  auto saved = SafetensorsFile::open(directory.file("state"));
  ASSERT_TRUE(saved.ok());
  EXPECT_TRUE(saved->tensors().empty());
}

// Nothing fills them yet; as floats they would end behind their buffers.
TEST(VariableStore, RefusesHalfPrecision) {
  for (plan::DType type : {plan::DType_F16, plan::DType_BF16}) {
    SmallPlan small;
    small.variable("w", small.buffer(type, {4}, 8), plan::VariableRole_Parameter, {4}, {}, {},
                   plan::InitKind_Constant, 0);
    auto store = VariableStore::create(small.finish(), small.access);
    ASSERT_FALSE(store.ok());
    EXPECT_NE(store.error().message.find("cannot be initialized yet"), std::string::npos)
        << store.error().message;
  }
}

TEST(VariableStore, InitialValuesDoNotDependOnTheLayout) {
  TestDirectory directory;
  SmallPlan permuted, plain;
  VariableStore a = storeOf(permuted, true), b = storeOf(plain, false);
  ASSERT_TRUE(a.initialize(5).ok());
  ASSERT_TRUE(b.initialize(5).ok());
  EXPECT_NE(permuted.access.buffers[0], plain.access.buffers[0]);
  ASSERT_TRUE(a.save(directory.file("a")).ok());
  ASSERT_TRUE(b.save(directory.file("b")).ok());
  EXPECT_EQ(directory.read("a"), directory.read("b"));
  EXPECT_EQ(permuted.access.values<float>(1), (std::vector<float>{0.25f, 0.25f}));
  EXPECT_EQ(permuted.access.values<int64_t>(3), (std::vector<int64_t>{5, 0}));
}

TEST(VariableStore, GradientsHaveTheFileLayout) {
  TestDirectory directory;
  SmallPlan small;
  VariableStore store = storeOf(small);
  auto *gradient = reinterpret_cast<float *>(small.access.buffers[4].data());
  for (int i = 0; i < 12; ++i)
    gradient[i] = static_cast<float>(i);
  ASSERT_TRUE(store.saveGradients(directory.file("g")).ok());
  auto saved = SafetensorsFile::open(directory.file("g"));
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->tensors().size(), 1u);
  float values[12];
  ASSERT_TRUE(saved->readFloats(*saved->find("conv.weight"), 0, values, 12).ok());
  // Inside (h, w, i) of output 0 is 0..5 = (w, i); the file has (i, w).
  EXPECT_EQ(std::vector<float>(values, values + 6), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(VariableStore, IgnoresTorchvisionsBatchCounter) {
  TestDirectory directory;
  SmallPlan small;
  VariableStore store = storeOf(small);
  std::string header =
      "{" + weightAndMean +
      R"(,"bn.num_batches_tracked":{"dtype":"I64","shape":[],"data_offsets":[56,64]}})";
  Status loaded = store.load(
      directory.write("in", safetensorsBytes(header, fourteenFloats + bytesOf<int64_t>({3}))));
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
}

TEST(VariableStore, ListsWhatDiffersAndLoadsNothing) {
  TestDirectory directory;
  SmallPlan small;
  VariableStore store = storeOf(small);
  ASSERT_TRUE(store.initialize(1).ok());
  auto before = small.access.buffers;
  auto load = [&](const std::string &header, const std::string &data) {
    return store.load(directory.write("in", safetensorsBytes("{" + header + "}", data)));
  };
  EXPECT_BAD_INPUT(load(R"("conv.weight":{"dtype":"F32","shape":[2,3,1,2],"data_offsets":[0,48]})",
                        fourteenFloats.substr(0, 48)),
                   "it lacks bn.running_mean");
  EXPECT_BAD_INPUT(
      load(weightAndMean + R"(,"extra":{"dtype":"F32","shape":[1],"data_offsets":[56,60]})",
           fourteenFloats + bytesOf<float>({1})),
      "the model does not have extra");
  EXPECT_BAD_INPUT(
      load(R"("conv.weight":{"dtype":"F32","shape":[3,2,1,2],"data_offsets":[0,48]},)"
           R"("bn.running_mean":{"dtype":"I32","shape":[2],"data_offsets":[48,56]})",
           fourteenFloats),
      "conv.weight has shape [3, 2, 1, 2], expected [2, 3, 1, 2], bn.running_mean has dtype I32, "
      "expected F32");
  EXPECT_EQ(small.access.buffers, before);
}

TEST(VariableStore, OldWeightsSurviveAFullDisk) {
  TestDirectory directory;
  SmallPlan small;
  VariableStore store = storeOf(small);
  ASSERT_TRUE(store.initialize(1).ok());
  ASSERT_TRUE(store.save(directory.file("w")).ok());
  std::string before = directory.read("w");
  ASSERT_TRUE(store.initialize(2).ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit former, limit;
  ::getrlimit(RLIMIT_FSIZE, &former);
  limit = {before.size() - 8, former.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  Status saved = store.save(directory.file("w"));
  ::setrlimit(RLIMIT_FSIZE, &former);
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().exitCode(), 1);
  EXPECT_EQ(directory.read("w"), before);
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(VariableStore, RefusesContradictoryPlans) {
  auto create = [](auto build) {
    SmallPlan small;
    build(small);
    return VariableStore::create(small.finish(), small.access);
  };
  using S = SmallPlan;
  EXPECT_BAD_INPUT(create([](S &s) { s.variable("w", 7, plan::VariableRole_Parameter, {2}); }),
                   "names buffer 7 of 0");
  EXPECT_BAD_INPUT(create([](S &s) {
                     s.variable("w", s.buffer(plan::DType_F32, {2}, 8),
                                plan::VariableRole_Parameter, {3});
                   }),
                   "does not fit its buffer");
  EXPECT_BAD_INPUT(create([](S &s) {
                     uint32_t b = s.buffer(plan::DType_F32, {2}, 8);
                     s.variable("w", b, plan::VariableRole_Parameter, {2});
                     s.variable("w", b, plan::VariableRole_Parameter, {2});
                   }),
                   "appears twice");
  EXPECT_BAD_INPUT(create([](S &s) {
                     s.variable("g", s.buffer(plan::DType_F32, {2}, 8),
                                plan::VariableRole_Generator, {2});
                   }),
                   "two I64 values");
  EXPECT_BAD_INPUT(create([](S &s) {
                     s.variable("w", s.buffer(plan::DType_F32, {2}, 8),
                                plan::VariableRole_Parameter, {2}, {}, {}, plan::InitKind_Constant,
                                0, 0, 9);
                   }),
                   "as its gradient");
}

TEST(Checkpoint, RestoresEverything) {
  TestDirectory directory;
  std::string path = directory.file("checkpoint");
  SmallPlan small;
  VariableStore store = storeOf(small);
  ASSERT_TRUE(store.initialize(3).ok());
  reinterpret_cast<int64_t *>(small.access.buffers[3].data())[1] = 17;
  reinterpret_cast<float *>(small.access.buffers[2].data())[4] = 2.5f;
  auto before = small.access.buffers;
  TrainingSetting setting{40, 4, 6, true, 0xfffffffffffffff0u, "a \"set\"", "sgd lr 1"};
  WatchState watch{"loss:min", 0.1, 12, 1, std::nullopt, 2, 16};
  Status saved = saveCheckpoint(path, store, {{17, 2, 5, 3}, setting, watch});
  ASSERT_TRUE(saved.ok()) << saved.error().message;
  ASSERT_TRUE(store.initialize(4).ok());
  auto loaded = loadCheckpoint(path, store);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->setting.samples, 40u);
  EXPECT_EQ(loaded->setting.batch, 4u);
  EXPECT_EQ(loaded->setting.epochSteps, 6u);
  EXPECT_TRUE(loaded->setting.shuffle);
  EXPECT_EQ(loaded->setting.fingerprint, 0xfffffffffffffff0u);
  EXPECT_EQ(loaded->setting.data, "a \"set\"");
  EXPECT_EQ(loaded->setting.optimizer, "sgd lr 1");
  const TrainingPosition *position = &loaded->position;
  EXPECT_EQ(position->step, 17u);
  EXPECT_EQ(position->epoch, 2u);
  EXPECT_EQ(position->stepInEpoch, 5u);
  EXPECT_EQ(position->seed, 3u);
  EXPECT_EQ(loaded->watch.metric, "loss:min");
  EXPECT_EQ(loaded->watch.best, 0.1) << "to the bit";
  EXPECT_FALSE(loaded->watch.reference);
  EXPECT_EQ(loaded->watch.bestStep, 12u);
  EXPECT_EQ(loaded->watch.bestEpoch, 1u);
  EXPECT_EQ(loaded->watch.waited, 2u);
  EXPECT_EQ(loaded->watch.validatedStep, 16u);
  for (size_t i = 0; i < 4; ++i) // the gradient is no state
    EXPECT_EQ(small.access.buffers[i], before[i]) << i;
}

TEST(Checkpoint, RefusesWhatIsNone) {
  TestDirectory directory;
  SmallPlan small;
  VariableStore store = storeOf(small);
  EXPECT_BAD_INPUT(loadCheckpoint(directory.path, store), "not a regular file");
  ASSERT_TRUE(store.save(directory.file("weights")).ok());
  EXPECT_BAD_INPUT(loadCheckpoint(directory.file("weights"), store), "use --load");
}
