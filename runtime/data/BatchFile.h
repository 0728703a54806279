// Samples out of a safetensors file: `image` (N, C, H, W; for models that take something else than
// images N and the sample's own shape) in F32, `label` (N) in I64. Taken as they are: no resize, no
// normalization. There is no test split.
#ifndef GC_RUNTIME_DATA_BATCHFILE_H
#define GC_RUNTIME_DATA_BATCHFILE_H

#include "runtime/data/Dataset.h"

namespace gc::runtime {

Result<DataSource> openBatchFile(const std::string &path, const ModelInput &input);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_BATCHFILE_H
