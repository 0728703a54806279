// Which checkpoints a folder keeps, what its list says, and what it does with remains.
#include "runtime/weights/CheckpointFolder.h"
#include "runtime/weights/BufferCopy.h"
#include "test/runtime/io/TestFiles.h"

#include "runtime/plan/Plan_generated.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;
namespace plan = gc::plan;

namespace {

struct OneBuffer final : BufferAccess {
  Result<std::byte *> map(uint32_t) override { return reinterpret_cast<std::byte *>(&value); }
  Status unmap(uint32_t, bool) override { return {}; }
  float value = 1;
};

/// A plan with one parameter.
struct OneWeight {
  OneWeight() {
    std::vector<int64_t> one = {1};
    std::vector<flatbuffers::Offset<plan::Buffer>> buffers = {plan::CreateBufferDirect(
        builder, "w", plan::BufferKind_Parameter, plan::DType_F32, &one, 0, 4)};
    std::vector<flatbuffers::Offset<plan::Variable>> variables = {plan::CreateVariableDirect(
        builder, "w", 0, plan::VariableRole_Parameter,
        plan::CreateInitializer(builder, plan::InitKind_Constant, 0.5), &one)};
    auto target = plan::CreateTargetDirect(builder, "cpu");
    auto memory = plan::CreateMemory(builder, 4);
    builder.Finish(
        plan::CreatePlanDirect(builder, "one", target, 4, 1, 1, 64, memory, &buffers, &variables));
  }
  const plan::Plan &get() const { return *plan::GetPlan(builder.GetBufferPointer()); }
  flatbuffers::FlatBufferBuilder builder;
  OneBuffer access;
};

struct Folder {
  explicit Folder(const char *rule, const char *watched = "loss:min", uint64_t from = 0)
      : folder(*CheckpointFolder::open(directory.path, *parseKeepRule(rule), watched, from)) {}
  void keep(uint64_t step, std::optional<double> loss = {}) {
    VariableStore store = *VariableStore::create(one.get(), one.access);
    KeptCheckpoint facts;
    facts.loss = 0.5;
    facts.validationLoss = facts.watched = loss;
    Status kept = folder.keep(store, {{step, 0, step, 3}, {}}, facts);
    ASSERT_TRUE(kept.ok()) << kept.error().message;
  }
  std::vector<uint64_t> steps() const {
    std::vector<uint64_t> steps;
    for (const KeptCheckpoint &kept : folder.list().checkpoints) {
      steps.push_back(kept.position.step);
      EXPECT_TRUE(std::filesystem::exists(directory.file(kept.file)));
    }
    EXPECT_EQ(directory.entries(), steps.size() + 1) << "and the list";
    return steps;
  }
  TestDirectory directory;
  OneWeight one;
  CheckpointFolder folder;
};

using Steps = std::vector<uint64_t>;

} // namespace

TEST(CheckpointFolder, KeepsTheLastOnes) {
  Folder last("last"), two("2"), all("all");
  for (uint64_t step : {10, 20, 30})
    for (Folder *folder : {&last, &two, &all})
      folder->keep(step);
  EXPECT_EQ(last.steps(), (Steps{30}));
  EXPECT_EQ(two.steps(), (Steps{20, 30}));
  EXPECT_EQ(all.steps(), (Steps{10, 20, 30}));
}

TEST(CheckpointFolder, KeepsTheBest) {
  Folder best("best"), two("best:2,last:2"), most("best", "loss:max");
  double losses[] = {3, 1, 1, 2, 5, 4};
  for (uint64_t step = 1; step <= 6; ++step)
    for (Folder *folder : {&best, &two, &most})
      folder->keep(step, losses[step - 1]);
  EXPECT_EQ(best.steps(), (Steps{2, 6})) << "of equal ones the first; the last one always";
  EXPECT_EQ(two.steps(), (Steps{2, 3, 5, 6}));
  EXPECT_EQ(most.steps(), (Steps{5, 6}));
  best.keep(7);
  EXPECT_EQ(best.steps(), (Steps{2, 7})) << "what was not validated is no candidate";
}

TEST(CheckpointFolder, SaysWhatThereIs) {
  Folder folder("all");
  folder.keep(5, 0.25);
  folder.keep(9, 0.5);
  auto list = nlohmann::json::parse(folder.directory.read("checkpoints.json"));
  EXPECT_EQ(list["last"], "step-00000009.safetensors");
  EXPECT_EQ(list["best"], "step-00000005.safetensors");
  EXPECT_EQ(list["monitor"], "loss:min");
  EXPECT_EQ(list["checkpoints"][0]["step"], 5);
  EXPECT_EQ(list["checkpoints"][0]["validation"]["loss"], 0.25);
  EXPECT_EQ(list["checkpoints"][0]["loss"], 0.5);
  EXPECT_EQ(list["checkpoints"][0]["bytes"],
            std::filesystem::file_size(folder.directory.file("step-00000005.safetensors")));
  auto found = [&](const std::string &which) {
    Result<std::string> file = findCheckpoint(folder.directory.path + which);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return std::filesystem::path(*file).filename().string();
  };
  EXPECT_EQ(found(""), "step-00000009.safetensors");
  EXPECT_EQ(found(":last"), "step-00000009.safetensors");
  EXPECT_EQ(found(":best"), "step-00000005.safetensors");
  EXPECT_EQ(found(":5"), "step-00000005.safetensors");
  EXPECT_BAD_INPUT(findCheckpoint(folder.directory.path + ":6"), "it has those of steps 5, 9");
  EXPECT_BAD_INPUT(findCheckpoint("/nowhere:best"), "no checkpoint in '/nowhere'");
  EXPECT_EQ(readCheckpoint(folder.directory.file(found(":5")))->position.step, 5u);
}

TEST(CheckpointFolder, GoesOnWithoutTheFuture) {
  Folder folder("all");
  for (uint64_t step : {1, 2, 3})
    folder.keep(step, 1.0 / static_cast<double>(step));
  auto again = CheckpointFolder::open(folder.directory.path, *parseKeepRule("all"), "loss:min", 2);
  ASSERT_TRUE(again.ok());
  folder.folder = std::move(*again);
  EXPECT_TRUE(std::filesystem::exists(folder.directory.file("step-00000003.safetensors")))
      << "nothing is removed before something new is kept";
  folder.keep(4, 9);
  EXPECT_EQ(folder.steps(), (Steps{1, 2, 4}));
  EXPECT_EQ(folder.folder.list().best()->position.step, 2u);
  auto fresh = CheckpointFolder::open(folder.directory.path, {}, "loss:min", 0);
  ASSERT_TRUE(fresh.ok());
  folder.folder = std::move(*fresh);
  folder.keep(1);
  EXPECT_EQ(folder.steps(), (Steps{1})) << "another run";
}

TEST(CheckpointFolder, RemovesRemainsAndNothingElse) {
  Folder folder("last");
  for (const char *name : {"step-00000099.safetensors", ".step-00000098.safetensors.gc-partial",
                           "step-99.safetensors", "step-notes.txt", "mine.safetensors"})
    folder.directory.write(name, "x");
  folder.keep(1);
  for (const char *name : {"step-99.safetensors", "step-notes.txt", "mine.safetensors"})
    EXPECT_EQ(folder.directory.read(name), "x") << name;
  EXPECT_EQ(folder.directory.entries(), 5u);
}

TEST(CheckpointFolder, RefusesAListThatIsNone) {
  TestDirectory directory;
  EXPECT_BAD_INPUT(findCheckpoint(directory.path), "there is no checkpoint in");
  for (const char *text :
       {"", "[]", "{", R"({"checkpoints":[]})", R"({"monitor":null,"checkpoints":[1]})",
        R"({"monitor":null,"checkpoints":[{"file":"../x","step":1,"epoch":0,"step_in_epoch":1,)"
        R"("seed":0,"bytes":1}]})",
        R"({"monitor":null,"checkpoints":[{"file":"step-00000001.safetensors","step":-1}]})"}) {
    directory.write("checkpoints.json", text);
    EXPECT_BAD_INPUT(findCheckpoint(directory.path), "is damaged");
  }
  directory.write("checkpoints.json", R"({"monitor":null,"checkpoints":[]})");
  EXPECT_BAD_INPUT(findCheckpoint(directory.path), "no such checkpoint");
  TestDirectory file;
  file.write("f", "");
  OneWeight one;
  VariableStore store = *VariableStore::create(one.get(), one.access);
  auto folder = CheckpointFolder::open(file.file("f"), {}, "", 0);
  ASSERT_TRUE(folder.ok());
  EXPECT_BAD_INPUT(folder->keep(store, {}, {}), "cannot create");
}

TEST(CheckpointFolder, RulesByName) {
  EXPECT_EQ(parseKeepRule("best,last:3")->best, 1u);
  EXPECT_EQ(parseKeepRule("best,last:3")->last, 3u);
  EXPECT_EQ(parseKeepRule("4")->last, 4u);
  EXPECT_TRUE(parseKeepRule("all")->all);
  for (const char *bad : {"", "some", "best:", "best:0", "0", "last:x", "all:2", "best,,last", ","})
    EXPECT_BAD_INPUT(parseKeepRule(bad), "--keep=");
}

TEST(BufferCopy, HasWhatWasThereWhenItWasTaken) {
  OneWeight one;
  auto copy = BufferCopy::create(one.get(), {0});
  ASSERT_TRUE(copy.ok());
  EXPECT_GE(copy->bytes(), 4u);
  ASSERT_TRUE(copy->take(one.access).ok());
  one.access.value = 2;
  EXPECT_EQ(*reinterpret_cast<float *>(*copy->map(0)), 1);
  EXPECT_FALSE(copy->map(1).ok());
}
