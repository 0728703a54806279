//===- AskModel.h - what a step would need ----------------------*- C++ -*-===//
//
// Questions about a model that need no plan: what a step needs and takes at some batch, with some
// options. Plain types only, as in Compile.h. What an answer says is what compileModel would say
// with the same options of the model that --gc-batch makes, to the byte.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_ASKMODEL_H
#define GC_COMPILER_ASKMODEL_H

#include "compiler/Compile.h"
#include <memory>

namespace gc {

/// A step at one batch.
struct StepAnswer {
  int exitCode = 0;  // 0: there is a plan; 3: none within the budget; else there is no answer
  std::string error; // where there is no plan: why
  std::string warnings;
  int64_t batch = 0;
  // Of the plan:
  int64_t microBatches = 1;
  int64_t parts = 1;      // of the batch, in which chains of ops run
  int64_t inputSlots = 2; // buffers that an input has
  int64_t peakBytes = 0;
  double stepSeconds = 0;       // predicted
  double recomputeFraction = 0; // of a step that recomputes nothing
  int64_t recomputed = 0, retained = 0;
  std::string ratesFrom; // whose rates have predicted the times
  // Where no plan is within the budget:
  int64_t smallestBytes = 0; // of the smallest plan that was found
  int64_t lowestBytes = 0;   // proven: no plan needs less

  double samplesPerSecond() const {
    return stepSeconds > 0 ? static_cast<double>(batch) / stepSeconds : 0;
  }
};

/// What is known of a step's bytes without a search for plans.
struct StepNeed {
  int exitCode = 0; // not 0: there is no such step, and `error` says why
  std::string error;
  int64_t plainBytes = 0;   // of the plan that recomputes nothing
  int64_t lowestBytes = 0;  // proven: no plan needs less
  bool triesParts = false;  // plans with chains of ops in parts of the batch are looked at, too
  std::string mixesSamples; // an op for which micro-batches do not give the step of the whole batch
};

/// A model that is parsed once and asked many times.
class AskedModel {
public:
  /// `name` names the file in messages.
  AskedModel(const std::string &text, const std::string &name);
  ~AskedModel();

  /// Why it cannot be asked; empty where it can.
  const std::string &error() const;
  /// What the model is called, its parameters, and its own batch.
  std::string name() const;
  int64_t parameters() const;
  int64_t batch() const;

  /// The plan of a step of `batch` samples.
  StepAnswer answer(int64_t batch, const CompileOptions &options);

  /// The same, but of no plan in particular: quick.
  StepNeed need(int64_t batch, const CompileOptions &options);

private:
  struct Opened;
  std::unique_ptr<Opened> opened;
};

} // namespace gc

#endif
