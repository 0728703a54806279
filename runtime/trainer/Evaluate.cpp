// The part of the trainer that computes without training: a split, in inference mode.
#include "runtime/plan/Metrics.h"
#include "runtime/process/Interrupt.h"
#include "runtime/trainer/Predictions.h"
#include "runtime/trainer/Trainer.h"

#include "runtime/plan/ElementType.h"

#include <fmt/format.h>

#include <chrono>

namespace gc::runtime {

/// What one pass over a split adds up.
namespace {
struct Sums {
  double loss = 0, correct = 0;
  int64_t valid = 0;
};
} // namespace

static int64_t labelAt(const void *labels, LabelType type, int64_t index) {
  return type == LabelType::I32 ? static_cast<const int32_t *>(labels)[index]
                                : static_cast<const int64_t *>(labels)[index];
}

Status Trainer::readRows(const void *labels, int64_t rowCount, ClassCounts *classes,
                         Predictions *answers) {
  uint32_t buffer = *findOutput(executor.plan(), kLogitsOutput);
  const plan::Buffer &logits = *executor.plan().buffers()->Get(buffer);
  auto columns = static_cast<size_t>(logits.shape()->Get(1));
  const ElementType &type = *elementTypeOf(logits.dtype());
  Result<std::byte *> bytes = executor.map(buffer);
  if (!bytes)
    return bytes.error();
  rows.resize(static_cast<size_t>(inputs.microBatch) * columns);
  type.toFloats(*bytes, rows.data(), rows.size());
  if (Status done = executor.unmap(buffer, /*written=*/false); !done)
    return done;
  for (int64_t i = 0; i < rowCount; ++i) {
    std::span<const float> row(rows.data() + static_cast<size_t>(i) * columns, columns);
    int64_t label = labelAt(labels, inputs.labelType, i); // below 0: it could not be read
    if (classes && label >= 0)
      classes->add(row, label);
    if (answers)
      if (Status done = answers->add(row, label); !done)
        return done;
  }
  return {};
}

Result<std::optional<EvaluationReport>> Trainer::evaluate(Split split) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  if (progress)
    progress->finishLine();
  if (!loader)
    if (Status ready = prepareLoader(); !ready)
      return ready.error();
  const std::optional<uint32_t> lossMetric = findMetric(executor.plan(), kLossMetric, true),
                                correctMetric = findMetric(executor.plan(), kCorrectMetric, true);
  std::optional<ClassCounts> classes;
  std::optional<uint32_t> logits = findOutput(executor.plan(), kLogitsOutput);
  // A table of classes is for samples that have one.
  if (logits && inputs.model.classes > 1 && inputs.model.labelShape.empty() &&
      elementTypeOf(executor.plan().buffers()->Get(*logits)->dtype())->toFloats)
    classes.emplace(inputs.model.classes);
  Predictions *answers = split == Split::Test ? predictions : nullptr;
  LoaderRun run;
  run.dataset = split == Split::Test ? data.test.get() : data.validation.get();
  run.samples = run.dataset->size();
  run.microBatchesPerEpoch = (run.samples + inputs.microBatch - 1) / inputs.microBatch;
  run.end = static_cast<uint64_t>(run.microBatchesPerEpoch);
  run.badSamples = schedule.skipBadSamples ? &badSamples : nullptr;
  ahead.reset();
  loader->start(run);
  Sums sums;
  auto one = [&](int64_t done) -> Status {
    Result<Loader::MicroBatch> loaded = nextMicroBatch();
    if (!loaded)
      return loaded.error();
    if (Status started = executor.startEvaluate(loaded->slot); !started)
      return started;
    loadAhead();
    if (Status finished = executor.finishMicroBatch(); !finished)
      return ahead && !*ahead ? ahead->error() : finished.error();
    if (classes || answers) {
      Result<std::byte *> labels = executor.inputSlot(inputs.label, loaded->slot);
      if (!labels)
        return labels.error();
      int64_t rowCount = std::min(inputs.microBatch, run.samples - done);
      if (Status read = readRows(*labels, rowCount, classes ? &*classes : nullptr, answers); !read)
        return read;
    }
    loader->release();
    Result<float> mean = executor.readMetric(*lossMetric);
    if (!mean)
      return mean.error();
    if (loaded->valid > 0)
      sums.loss += static_cast<double>(*mean) * static_cast<double>(loaded->valid);
    sums.valid += loaded->valid;
    if (!correctMetric)
      return {};
    Result<float> right = executor.readMetric(*correctMetric);
    if (!right)
      return right.error();
    sums.correct += *right;
    return {};
  };
  for (uint64_t i = 0; i < run.end; ++i) {
    if (interruptRequested())
      return std::optional<EvaluationReport>();
    if (Status done = one(static_cast<int64_t>(i) * inputs.microBatch); !done)
      return done.error();
    if (progress && sums.valid > 0) {
      auto seen = static_cast<double>(sums.valid);
      progress->update(
          EvaluationState{sums.valid, run.samples, sums.loss / seen,
                          correctMetric ? std::optional(sums.correct / seen) : std::nullopt,
                          split == Split::Validation});
    }
  }
  EvaluationReport result;
  result.epoch = where.epoch;
  result.step = where.step;
  result.samples = inputs.model.labelShape.empty() ? sums.valid : run.samples;
  if (sums.valid == 0)
    return badInput(fmt::format("no sample of the {} split can be read",
                                split == Split::Test ? "test" : "validation"));
  result.loss = sums.loss / static_cast<double>(sums.valid);
  if (correctMetric)
    result.accuracy = sums.correct / static_cast<double>(sums.valid);
  if (classes)
    result.topFive = classes->topFive();
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  bool isTest = split == Split::Test;
  (isTest ? report.evaluations : report.validations).push_back(result);
  (isTest ? report.testClasses : report.validationClasses) = std::move(classes);
  if (onEvaluation)
    onEvaluation(result, split);
  return std::optional(result);
}

} // namespace gc::runtime
