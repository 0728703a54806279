// Byte images delivered at the model's size.
#ifndef GC_RUNTIME_DATA_IMAGEDATASET_H
#define GC_RUNTIME_DATA_IMAGEDATASET_H

#include "runtime/data/ByteImages.h"
#include "runtime/data/Dataset.h"

namespace gc::runtime {

/// Grey images are replicated for a model with more channels; other differences are errors, and so
/// is a label that the model has no class for.
Result<std::unique_ptr<Dataset>> makeImageDataset(ByteImages images, const ModelInput &input);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGEDATASET_H
