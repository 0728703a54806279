// Images delivered at the model's size.
#ifndef GC_RUNTIME_DATA_IMAGEDATASET_H
#define GC_RUNTIME_DATA_IMAGEDATASET_H

#include "runtime/data/Augmentation.h"
#include "runtime/data/ByteImages.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/ImageSource.h"
#include "runtime/data/Normalization.h"

namespace gc::runtime {

/// What is done to an image on its way to the model.
struct ImageTransforms {
  Normalization normalization;
  Augmentation augmentation = {}; // where training reads
  uint64_t seed = 0;              // of what it draws
};

/// Grey images are replicated for a model with three channels, colour becomes grey for a model with
/// one; other differences are errors, and so is a label that the model has no class for.
Result<std::unique_ptr<Dataset>> makeImageDataset(std::unique_ptr<ImageSource> images,
                                                  const ModelInput &input,
                                                  const ImageTransforms &transforms = {});
Result<std::unique_ptr<Dataset>> makeImageDataset(ByteImages images, const ModelInput &input,
                                                  const ImageTransforms &transforms = {});

/// What makeImageDataset() does, in words: "28 x 28 grey stretched to 112 x 112, …".
std::string preparationText(const ImageSource &images, const ModelInput &input,
                            const ImageTransforms &transforms);

std::unique_ptr<ImageSource> makeImageSource(ByteImages images);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGEDATASET_H
