// Samples of f32 values that lie in a file, one after the other, and are taken as they are.
#ifndef GC_RUNTIME_DATA_FLOATSAMPLES_H
#define GC_RUNTIME_DATA_FLOATSAMPLES_H

#include "runtime/data/Dataset.h"
#include "runtime/data/images/FileBytes.h"

namespace gc::runtime {

/// Where they are: bytes [begin, end) of a file.
struct FloatFile {
  OpenFile file;
  std::string name; // for messages
  uint64_t begin = 0, end = 0;
};

/// Images lie channels first. `shape` is that of all samples as the file tells it; fails (bad
/// input) where it is not what the model takes, or where the model has no class for a label.
Result<std::unique_ptr<Dataset>> makeFloatSamples(FloatFile file, const std::vector<int64_t> &shape,
                                                  std::vector<int64_t> labels,
                                                  const ModelInput &input);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_FLOATSAMPLES_H
