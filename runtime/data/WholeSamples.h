// Whole numbers of a safetensors file: samples that are tokens, and several labels a sample.
#ifndef GC_RUNTIME_DATA_WHOLESAMPLES_H
#define GC_RUNTIME_DATA_WHOLESAMPLES_H

#include "runtime/data/Dataset.h"
#include "runtime/weights/Safetensors.h"

namespace gc::runtime {

/// A tensor of I32 or I64 whose first dimension is that of samples.
class WholeNumbers {
public:
  /// Fails (bad input) where it has other numbers, or samples of another shape. `what` is for the
  /// message.
  static Result<WholeNumbers> open(std::shared_ptr<const SafetensorsFile> file,
                                   const SafetensorsEntry &entry, const std::string &what,
                                   const std::vector<int64_t> &sampleShape);
  int64_t samples() const { return entry.shape[0]; }
  /// Those of a sample. Allocates nothing unless it fails.
  Status read(int64_t sample, int64_t *target) const;
  /// Fails (bad input), naming number `place` of a sample.
  Error refuse(int64_t sample, int64_t place, int64_t value, const std::string &why) const;

private:
  WholeNumbers(std::shared_ptr<const SafetensorsFile> file, const SafetensorsEntry &entry,
               std::string what, int64_t count)
      : file(std::move(file)), entry(entry), what(std::move(what)), count(count) {}
  std::shared_ptr<const SafetensorsFile> file;
  SafetensorsEntry entry;
  std::string what;
  int64_t count; // numbers of a sample
};

/// Samples that are tokens, with a label each.
std::unique_ptr<Dataset> makeTokenSamples(WholeNumbers tokens, std::vector<int64_t> labels,
                                          int64_t length);
/// The same samples with other labels, as many a sample as the model takes; those below 0 are left
/// out of the loss.
std::unique_ptr<Dataset> withLabels(std::unique_ptr<Dataset> samples, WholeNumbers labels,
                                    const ModelInput &input);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_WHOLESAMPLES_H
