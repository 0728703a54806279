// One SGD step of every small network against values pinned from PyTorch in float64: loss, every
// gradient, every updated weight, every running statistic. tools/compare/README.md tells the
// formula of the weights and the meaning of the numbers; tools/compare/pin.py wrote the files.
// Built once for the cpu and once for cuda, whose generated kernels an emulated driver executes.
#include "compiler/Compile.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/plan/Plan_generated.h"
#include "runtime/trainer/TrainPlan.h"
#include "runtime/weights/Safetensors.h"
#include "test/memory/TestDevice.h"
#include "test/pinned/Hashed.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <unistd.h>

namespace {

using namespace gc::runtime;
namespace fs = std::filesystem;
using gc::test::Hashed;
using nlohmann::json;

// The thresholds of tools/compare/gradients.py.
constexpr double kMedianFactor = 5, kWorst = 2e-2, kSmall = 1e-3, kSmallShare = 0.9;
// Steps with rounded weights that tell what rounding alone does, and how much more is no error yet.
constexpr int kRoundedSteps = 2;
constexpr double kResponseFactor = 4;

std::string readText(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> readTensor(const SafetensorsFile &file, const std::string &name) {
  const SafetensorsEntry *entry = file.find(name);
  if (!entry)
    return {};
  std::vector<float> values(entry->elements());
  auto read = file.readFloats(*entry, 0, values.data(), values.size());
  return read ? values : std::vector<float>();
}

void writeTensors(const fs::path &path, const std::vector<SafetensorsDeclaration> &tensors,
                  const std::function<std::vector<char>(const SafetensorsDeclaration &)> &bytes) {
  auto writer = SafetensorsWriter::create(path.string(), tensors);
  ASSERT_TRUE(writer) << writer.error().message;
  for (const SafetensorsDeclaration &tensor : writer->order()) {
    std::vector<char> data = bytes(tensor);
    ASSERT_TRUE(writer->append(data.data(), data.size()));
  }
  ASSERT_TRUE(writer->finish());
}

template <typename T> std::vector<char> asBytes(const std::vector<T> &values) {
  const char *begin = reinterpret_cast<const char *>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

/// norm, sum and probe of a tensor, and how far they are from the pinned ones. `value` gives the
/// element at an index: tensors have up to 100 million, too many to copy them.
template <class F>
double pinnedError(size_t count, F value, const json &pinned, const Hashed &hashed,
                   const std::string &name, double typical) {
  double squares = 0, sum = 0, probe = 0;
  auto u = hashed.uniform(name + ".probe");
  for (size_t i = 0; i < count; ++i) {
    double element = value(i);
    squares += element * element;
    sum += element;
    probe += element * u(i);
  }
  double norm = pinned[0].get<double>();
  double size = norm > 0 ? norm : typical * std::sqrt(static_cast<double>(count));
  double off =
      std::max({std::abs(std::sqrt(squares) - norm), std::abs(sum - pinned[1].get<double>()),
                std::abs(probe - pinned[2].get<double>())});
  return off / size;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Judgement {
  std::vector<double> errors, own;
  std::string worst;
  /// Takes what rounding alone moves a tensor by for part of the reference's own error.
  void allow(const std::vector<double> &responses) {
    ASSERT_EQ(responses.size(), errors.size());
    for (size_t i = 0; i < errors.size(); ++i)
      if (errors[i] <= kResponseFactor * responses[i])
        errors[i] = std::min(errors[i], own[i]);
  }
  bool isGood() const {
    auto small = std::count_if(errors.begin(), errors.end(), [](double e) { return e < kSmall; });
    return median(errors) <= kMedianFactor * median(own) &&
           *std::max_element(errors.begin(), errors.end()) <= kWorst &&
           static_cast<double>(small) >= kSmallShare * static_cast<double>(errors.size());
  }
  void add(const std::string &name, double error, double reference) {
    // Written so that a NaN is the worst of all.
    if (errors.empty() || !(error <= *std::max_element(errors.begin(), errors.end())))
      worst = name;
    errors.push_back(std::isnan(error) ? INFINITY : error);
    own.push_back(reference);
  }
  void expectGood(const char *what) const {
    ASSERT_FALSE(errors.empty()) << what;
    double largest = *std::max_element(errors.begin(), errors.end());
    EXPECT_LE(median(errors), kMedianFactor * median(own)) << what;
    EXPECT_LE(largest, kWorst) << what << ": " << worst;
    auto small = std::count_if(errors.begin(), errors.end(), [](double e) { return e < kSmall; });
    EXPECT_GE(static_cast<double>(small), kSmallShare * static_cast<double>(errors.size())) << what;
  }
};

// An emulated GPU takes minutes for these.
bool isTooLarge(const std::string &name) {
  return gc::test::deviceUnderTest == std::string("cuda") &&
         (name.starts_with("vgg") || name == "resnet-152");
}

class Pinned : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    folder =
        fs::temp_directory_path() / ("gc-pinned-" + GetParam() + "-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder;
};

TEST_P(Pinned, OneStepMatchesFloat64) {
  if (isTooLarge(GetParam()))
    GTEST_SKIP() << "an emulated GPU would take minutes";
  json pinned = json::parse(readText(fs::path(GC_PINNED_DIR) / (GetParam() + ".json")));
  ASSERT_EQ(pinned["format"], 1);
  // The arguments are a list or one text, as gc-gen takes them.
  std::string arguments;
  if (pinned["gen"].is_string())
    arguments = pinned["gen"];
  else
    for (const json &argument : pinned["gen"])
      arguments += argument.get<std::string>() + " ";
  fs::path model = folder / "model.mlir";
  std::string command =
      std::string("\"") + GC_GEN + "\" " + arguments + " -o " + model.string() + " > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  gc::CompileOptions compile;
  compile.optimizer.lr = pinned["learning_rate"].get<double>();
  compile.keepGradients = true;
  compile.threads = 2;
  compile.device = gc::test::deviceUnderTest;
  if (compile.device == "cuda") {
    compile.target = "sm_80";
    compile.cudaLibrary = "none"; // the emulated driver executes PTX, not what a library brings
    compile.assemble = false;
  }
  gc::CompileResult compiled = gc::compileModel(readText(model), "model", compile);
  ASSERT_EQ(compiled.exitCode, 0) << compiled.error;
  auto plan = PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)), "model");
  ASSERT_TRUE(plan) << plan.error().message;

  std::vector<SafetensorsDeclaration> weights;
  for (const gc::plan::Variable *variable : *plan->get().variables())
    if (variable->role() == gc::plan::VariableRole_Parameter ||
        variable->role() == gc::plan::VariableRole_RunningStatistic)
      weights.push_back({variable->name()->str(),
                         "F32",
                         {variable->file_shape()->begin(), variable->file_shape()->end()}});
  std::set<std::string> names;
  for (const SafetensorsDeclaration &tensor : weights)
    names.insert(tensor.name);
  Hashed hashed(
      {pinned["seed"], pinned["residual_norm"], pinned["residual_factor"], pinned["norm_bias"]},
      names);
  writeTensors(folder / "weights.safetensors", weights, [&](const SafetensorsDeclaration &tensor) {
    return asBytes(hashed.weights(tensor.name, tensor.shape));
  });
  std::vector<int64_t> image = pinned["image"];
  int64_t classes = pinned["classes"];
  writeTensors(folder / "batch.safetensors",
               {{"image", "F32", image}, {"label", "I64", {image[0]}}},
               [&](const SafetensorsDeclaration &tensor) {
                 return tensor.name == "image" ? asBytes(hashed.image(image))
                                               : asBytes(hashed.labels(image[0], classes));
               });

  TrainOptions train;
  train.data = (folder / "batch.safetensors").string();
  train.load = (folder / "weights.safetensors").string();
  train.save = (folder / "after.safetensors").string();
  train.dumpGradients = (folder / "gradients.safetensors").string();
  train.report = (folder / "report.json").string();
  train.schedule.steps = 1;
  train.threads = 2;
  train.out = std::fopen("/dev/null", "w");
  auto trained = trainPlan(*plan, train);
  std::fclose(train.out);
  ASSERT_TRUE(trained) << trained.error().message;

  json report = json::parse(readText(folder / "report.json"));
  double loss = report["loss"][0];
  double ownLoss = pinned["loss"][1];
  EXPECT_NEAR(loss, pinned["loss"][0].get<double>(),
              kMedianFactor * std::max(ownLoss, 2e-7 * pinned["loss"][0].get<double>()));

  auto before = SafetensorsFile::open((folder / "weights.safetensors").string());
  auto after = SafetensorsFile::open((folder / "after.safetensors").string());
  auto gradients = SafetensorsFile::open((folder / "gradients.safetensors").string());
  ASSERT_TRUE(before && after && gradients);
  double typical = pinned["typical_gradient"], rate = pinned["learning_rate"];
  Judgement gradientErrors, updateErrors, statisticErrors;
  for (auto &[name, values] : pinned["gradients"].items()) {
    std::vector<float> g = readTensor(*gradients, name);
    std::vector<float> w0 = readTensor(*before, name), w1 = readTensor(*after, name);
    ASSERT_FALSE(g.empty()) << name;
    ASSERT_EQ(w0.size(), g.size()) << name;
    ASSERT_EQ(w1.size(), g.size()) << name;
    auto gradient = [&](size_t i) { return static_cast<double>(g[i]); };
    auto update = [&](size_t i) {
      return (static_cast<double>(w0[i]) - static_cast<double>(w1[i])) / rate;
    };
    gradientErrors.add(name, pinnedError(g.size(), gradient, values, hashed, name, typical),
                       values[3]);
    updateErrors.add(name, pinnedError(g.size(), update, values, hashed, name, typical), values[4]);
  }
  // A ReLU or a pool at its tie moves gradients by more than any rounding, whoever computes them,
  // and which ones are that near differs from CPU to CPU (a large VGG has some on any). So where
  // the gradients are off, steps whose weights are rounded once more tell by how much that alone
  // moves them: a wrong derivative is off by more, or where nothing moves.
  if (!gradientErrors.isGood()) {
    std::vector<double> responses(gradientErrors.errors.size());
    for (int rounding = 1; rounding <= kRoundedSteps; ++rounding) {
      writeTensors(folder / "weights.safetensors", weights,
                   [&](const SafetensorsDeclaration &tensor) {
                     std::vector<float> values = hashed.weights(tensor.name, tensor.shape);
                     auto u = hashed.uniform(tensor.name + ".rounding" + std::to_string(rounding));
                     for (size_t i = 0; i < values.size(); ++i)
                       values[i] = std::nextafter(values[i], u(i) < 0 ? -INFINITY : INFINITY);
                     return asBytes(values);
                   });
      train.dumpGradients = (folder / "rounded.safetensors").string();
      train.out = std::fopen("/dev/null", "w");
      auto again = trainPlan(*plan, train);
      std::fclose(train.out);
      ASSERT_TRUE(again) << again.error().message;
      auto rounded = SafetensorsFile::open(train.dumpGradients);
      ASSERT_TRUE(rounded);
      size_t index = 0;
      for (auto &[name, values] : pinned["gradients"].items()) {
        std::vector<float> g = readTensor(*gradients, name), moved = readTensor(*rounded, name);
        ASSERT_EQ(moved.size(), g.size()) << name;
        auto difference = [&](size_t i) {
          return static_cast<double>(moved[i]) - static_cast<double>(g[i]);
        };
        double norm = values[0].get<double>();
        double size = norm > 0 ? norm : typical * std::sqrt(static_cast<double>(g.size()));
        // Norm, sum and probe of the difference, as errors are measured.
        double moves = pinnedError(g.size(), difference, json{0, 0, 0}, hashed, name, 1) *
                       std::sqrt(static_cast<double>(g.size())) / size;
        responses[index] = std::max(responses[index], moves);
        ++index;
      }
    }
    std::printf(
        "ties: rounding the weights moves the median gradient by %.2g, ours is off by %.2g\n",
        median(responses), median(gradientErrors.errors));
    gradientErrors.allow(responses);
    updateErrors.allow(responses);
  }
  gradientErrors.expectGood("gradients");
  updateErrors.expectGood("updates");
  for (auto &[name, values] : pinned["statistics"].items()) {
    std::vector<float> s = readTensor(*after, name);
    ASSERT_FALSE(s.empty()) << name;
    auto statistic = [&](size_t i) { return static_cast<double>(s[i]); };
    statisticErrors.add(name, pinnedError(s.size(), statistic, values, hashed, name, 1), values[3]);
  }
  if (!pinned["statistics"].empty())
    statisticErrors.expectGood("statistics");
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(GC_PINNED_DIR))
    if (entry.path().extension() == ".json")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Networks, Pinned, testing::ValuesIn(cases()), [](const auto &info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

// The formula's own check values, from tools/compare/README.md.
TEST(Hashed, CheckValues) {
  Hashed hashed({.seed = 1}, {});
  uint64_t expected[] = {3754033, 16421131, 3768184, 10758817};
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(hashed.bits("image", i), expected[i]);
}

} // namespace
