// Runs the step that a reference is compared with.
#include "runtime/plan/GradientCopies.h"
#include "runtime/plan/Metrics.h"
#include "runtime/trainer/Reference.h"
#include "runtime/trainer/SessionExecutor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace gc::runtime {
namespace {

// As in test/pinned: two steps with rounded weights tell what rounding alone does.
constexpr int roundedSteps = 2;
constexpr double zeroShare = 1e-9; // of the typical gradient: below it a gradient is zero

std::string kindPrefix(ComparedKind kind) {
  return kind == ComparedKind::Gradient ? "gradient." : "updated.";
}

double norm(const std::vector<double> &values) {
  double squares = 0;
  for (double value : values)
    squares += value * value;
  return std::sqrt(squares);
}

class ReferenceStep {
public:
  ReferenceStep(const SafetensorsFile &file, Session &session, VariableStore &store)
      : file(file), session(session), executor(session), store(store) {}

  Result<ReferenceReport> run(const TrainOptions &options, double rate) {
    learningRate = rate;
    if (Status done = step(options, /*rounding=*/0); !done)
      return done.error();
    if (Status done = list(); !done)
      return done.error();
    for (ComparedTensor &tensor : report.tensors)
      if (Status done = measure(tensor); !done)
        return done.error();
    // A ReLU or a pool at its tie moves gradients by more than any rounding, whoever computes them.
    if (!firstOff(report))
      return std::move(report);
    for (int rounding = 1; rounding <= roundedSteps; ++rounding)
      if (Status done = respond(options, rounding); !done)
        return done.error();
    report.ties = !firstOff(report);
    return std::move(report);
  }

private:
  /// One step from the weights of --load; `rounding` moves each to a neighbour of it.
  Status step(const TrainOptions &options, int rounding) {
    if (Status done = store.initialize(options.schedule.seed); !done)
      return done;
    if (Status done = store.load(options.load); !done)
      return done;
    if (rounding > 0)
      if (Status done = roundWeights(rounding); !done)
        return done;
    if (Status done = fillInputs(); !done)
      return done;
    for (Status done : {executor.runOnce(), session.runMicroBatch(0)})
      if (!done)
        return done;
    Result<float> loss = executor.readMetric(*findMetric(executor.plan(), kLossMetric));
    if (!loss)
      return loss.error();
    lossNow = *loss;
    return executor.hasStep() ? session.finishStep() : Status();
  }

  Status roundWeights(int rounding) {
    uint32_t state = 0x9e3779b9u * static_cast<uint32_t>(rounding);
    for (const plan::Variable *variable : *executor.plan().variables()) {
      if (variable->role() != plan::VariableRole_Parameter)
        continue;
      Result<std::byte *> mapped = executor.map(variable->buffer());
      if (!mapped)
        return mapped.error();
      auto *values = reinterpret_cast<float *>(*mapped);
      uint64_t count = executor.plan().buffers()->Get(variable->buffer())->bytes() / sizeof(float);
      for (uint64_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        values[i] = std::nextafter(values[i], state >> 31 ? INFINITY : -INFINITY);
      }
      if (Status done = executor.unmap(variable->buffer(), /*written=*/true); !done)
        return done;
    }
    return {};
  }

  Status fillInputs() {
    for (const plan::Input *input : *executor.plan().inputs()) {
      std::string name = "input." + input->name()->str();
      const SafetensorsEntry *entry = file.find(name);
      if (!entry)
        return badInput(fmt::format("'{}' has no tensor '{}'", file.path(), name));
      const plan::Buffer &buffer = *executor.plan().buffers()->Get(input->slots()->Get(0));
      std::vector<int64_t> shape(buffer.shape()->begin(), buffer.shape()->end());
      bool isImage = shape.size() == 4 && buffer.dtype() == plan::DType_F32;
      std::vector<int64_t> inFile = shape;
      if (isImage) // N, C, H, W there
        inFile = {shape[0], shape[3], shape[1], shape[2]};
      if (entry->shape != inFile)
        return badInput(fmt::format("'{}' has a '{}' of {}, and the model takes {}", file.path(),
                                    name, shapeText(entry->shape), shapeText(inFile)));
      std::span<std::byte> slot = session.input(input->name()->str(), 0);
      Status done = buffer.dtype() == plan::DType_F32 ? fillFloats(*entry, slot, shape, isImage)
                                                      : fillWhole(*entry, slot, buffer.dtype());
      if (!done)
        return done;
    }
    return {};
  }

  Status fillFloats(const SafetensorsEntry &entry, std::span<std::byte> slot,
                    const std::vector<int64_t> &shape, bool isImage) {
    std::vector<float> values(entry.elements());
    if (Status done = file.readFloats(entry, 0, values.data(), values.size()); !done)
      return done;
    auto *target = reinterpret_cast<float *>(slot.data());
    if (!isImage) {
      std::copy(values.begin(), values.end(), target);
      return {};
    }
    size_t pixels = static_cast<size_t>(shape[1] * shape[2]), channels = shape[3];
    for (size_t n = 0; n < static_cast<size_t>(shape[0]); ++n)
      for (size_t p = 0; p < pixels; ++p)
        for (size_t c = 0; c < channels; ++c)
          target[(n * pixels + p) * channels + c] = values[(n * channels + c) * pixels + p];
    return {};
  }

  Status fillWhole(const SafetensorsEntry &entry, std::span<std::byte> slot, plan::DType dtype) {
    if (entry.dtype != "I64")
      return badInput(
          fmt::format("'{}' has labels or tokens of {}, expected I64", file.path(), entry.dtype));
    std::vector<int64_t> values(entry.elements());
    if (Status done = file.read(entry, 0, values.data(), values.size() * sizeof(int64_t)); !done)
      return done;
    for (size_t i = 0; i < values.size(); ++i) {
      if (dtype == plan::DType_I64) {
        std::memcpy(slot.data() + i * 8, &values[i], 8);
      } else {
        auto narrow = static_cast<int32_t>(values[i]);
        std::memcpy(slot.data() + i * 4, &narrow, 4);
      }
    }
    return {};
  }

  /// The tensors to compare, in the order of a step.
  Status list() {
    std::vector<ComparedTensor> statistics, gradients, updates;
    for (const plan::Variable *variable : *executor.plan().variables()) {
      std::string name = variable->name()->str();
      if (variable->role() == plan::VariableRole_RunningStatistic)
        statistics.push_back({ComparedKind::Statistic, name});
      if (variable->role() != plan::VariableRole_Parameter)
        continue;
      gradients.push_back({ComparedKind::Gradient, name});
      updates.push_back({ComparedKind::Update, name});
    }
    std::reverse(gradients.begin(), gradients.end());
    const SafetensorsEntry *loss = file.find("loss");
    double truth = 0;
    if (!loss || loss->dtype != "F64" || loss->elements() != 1)
      return badInput(fmt::format("'{}' has no F64 'loss': it is no reference", file.path()));
    if (Status done = file.read(*loss, 0, &truth, sizeof(truth)); !done)
      return done;
    report.loss = lossNow;
    report.truth = truth;
    report.tensors = std::move(statistics);
    report.tensors.push_back({ComparedKind::Loss, "loss"});
    report.tensors.insert(report.tensors.end(), gradients.begin(), gradients.end());
    report.tensors.insert(report.tensors.end(), updates.begin(), updates.end());
    return findTypical();
  }

  Result<std::vector<double>> truthOf(const std::string &tensor) {
    const SafetensorsEntry *entry = file.find(tensor);
    if (!entry)
      return badInput(
          fmt::format("'{}' has no tensor '{}', which the model has", file.path(), tensor));
    if (entry->dtype != "F64")
      return badInput(
          fmt::format("'{}' has '{}' in {}, expected F64", file.path(), tensor, entry->dtype));
    std::vector<double> values(entry->elements());
    if (Status done = file.read(*entry, 0, values.data(), values.size() * sizeof(double)); !done)
      return done.error();
    return values;
  }

  static double median(std::vector<double> sizes) {
    std::nth_element(sizes.begin(), sizes.begin() + sizes.size() / 2, sizes.end());
    return sizes[sizes.size() / 2];
  }

  /// The size of the network's typical gradient, and statistic: what a zero one is measured by (the
  /// mean of what a norm has just made zero).
  Status findTypical() {
    std::vector<double> gradients, statistics;
    for (const ComparedTensor &tensor : report.tensors) {
      bool isGradient = tensor.kind == ComparedKind::Gradient;
      if (!isGradient && tensor.kind != ComparedKind::Statistic)
        continue;
      Result<std::vector<double>> truth = truthOf(kindPrefix(tensor.kind) + tensor.name);
      if (!truth)
        return truth.error();
      double size = norm(*truth) / std::sqrt(static_cast<double>(truth->size()));
      (isGradient ? gradients : statistics).push_back(size);
      if (isGradient)
        gradientNorms[tensor.name] = norm(*truth);
    }
    if (gradients.empty())
      return badInput("the model has no parameters");
    typical = median(gradients);
    typicalStatistic = statistics.empty() ? 0 : median(statistics);
    return {};
  }

  /// What an error of a tensor is relative to.
  double scaleOf(const ComparedTensor &tensor, const std::vector<double> &truth) const {
    double root = std::sqrt(static_cast<double>(truth.size()));
    if (tensor.kind == ComparedKind::Statistic) {
      double size = norm(truth);
      return std::max(size < zeroShare * typicalStatistic * root ? typicalStatistic * root : size,
                      1e-30);
    }
    double gradient = gradientNorms.at(tensor.name);
    if (gradient < zeroShare * typical * root)
      gradient = typical * root;
    return std::max(tensor.kind == ComparedKind::Update ? learningRate * gradient : gradient,
                    1e-30);
  }

  Result<std::vector<float>> ours(const ComparedTensor &tensor) {
    return store.read(tensor.name, tensor.kind == ComparedKind::Gradient);
  }

  template <typename T>
  static double distance(const std::vector<float> &a, const std::vector<T> &b) {
    double squares = 0;
    for (size_t i = 0; i < a.size(); ++i)
      squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    return std::sqrt(squares);
  }

  Status measure(ComparedTensor &tensor) {
    std::string name = "loss";
    if (tensor.kind == ComparedKind::Loss) {
      tensor.error = std::abs(report.loss - report.truth) / std::max(std::abs(report.truth), 1e-30);
    } else {
      name = kindPrefix(tensor.kind) + tensor.name;
      Result<std::vector<double>> truth = truthOf(name);
      Result<std::vector<float>> value = ours(tensor);
      if (!truth || !value)
        return !truth ? truth.error() : value.error();
      if (truth->size() != value->size())
        return badInput(fmt::format("'{}': '{}' has {} elements, and the model's has {}",
                                    file.path(), name, truth->size(), value->size()));
      tensor.error = distance(*value, *truth) / scaleOf(tensor, *truth);
      first[name] = std::move(*value);
    }
    if (const SafetensorsEntry *own = file.find("error." + name); own && own->elements() == 1) {
      float error = 0;
      if (Status done = file.readFloats(*own, 0, &error, 1); !done)
        return done;
      tensor.own = error;
    }
    return {};
  }

  Status respond(const TrainOptions &options, int rounding) {
    if (Status done = step(options, rounding); !done)
      return done;
    for (ComparedTensor &tensor : report.tensors) {
      if (tensor.kind == ComparedKind::Loss) {
        tensor.response = std::max(tensor.response, std::abs(lossNow - report.loss) /
                                                        std::max(std::abs(report.truth), 1e-30));
        continue;
      }
      std::string name = kindPrefix(tensor.kind) + tensor.name;
      Result<std::vector<double>> truth = truthOf(name);
      Result<std::vector<float>> value = ours(tensor);
      if (!truth || !value)
        return !truth ? truth.error() : value.error();
      tensor.response =
          std::max(tensor.response, distance(*value, first[name]) / scaleOf(tensor, *truth));
    }
    return {};
  }

  const SafetensorsFile &file;
  Session &session;
  SessionExecutor executor;
  VariableStore &store;
  ReferenceReport report;
  double learningRate = 0, typical = 0, typicalStatistic = 0, lossNow = 0;
  std::map<std::string, double> gradientNorms;
  std::map<std::string, std::vector<float>> first; // of the step with the weights as they are
};

} // namespace

Result<ReferenceReport> compareWithReference(const PlanFile &asked, const TrainOptions &options,
                                             const SafetensorsFile &file) {
  Result<ReferenceSetting> setting = readReferenceSetting(file);
  if (!setting)
    return setting.error();
  Result<PlanFile> plan = withGradientCopies(asked);
  if (!plan)
    return plan.error();
  if (plan->get().micro_batches() != 1)
    return badInput("--reference compares one whole batch: leave out --accumulate");
  SessionOptions sessionOptions;
  sessionOptions.device = options.device;
  sessionOptions.threads = options.threads;
  Result<std::unique_ptr<Session>> session = Session::create(*plan, sessionOptions);
  if (!session)
    return session.error();
  SessionExecutor executor(**session);
  Result<VariableStore> store = VariableStore::create(plan->get(), executor);
  if (!store)
    return store.error();
  return ReferenceStep(file, **session, *store).run(options, setting->learningRate);
}

} // namespace gc::runtime
