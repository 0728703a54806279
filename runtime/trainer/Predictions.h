// The file of --predict: what the model answers to each sample of a split, in the split's order.
#ifndef GC_RUNTIME_TRAINER_PREDICTIONS_H
#define GC_RUNTIME_TRAINER_PREDICTIONS_H

#include "runtime/Error.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gc::runtime {

class Dataset;

class Predictions {
public:
  virtual ~Predictions() = default;

  /// By the name's end: `.csv` (a line for each sample: its number, label, the answer, logits) or
  /// `.safetensors` (`logits`, samples x classes F32, and `label`, I64). Fails (bad input) where
  /// the name has another end, or the file cannot be written.
  static Result<std::unique_ptr<Predictions>> create(const std::string &path, const Dataset &split,
                                                     int64_t classes);

  /// The next sample. One that could not be read has a label below 0; its logits become NaN.
  virtual Status add(std::span<const float> logits, int64_t label) = 0;
  /// Gives the file its name. Fails (run failed) unless there were as many as the split has.
  virtual Status finish() = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PREDICTIONS_H
