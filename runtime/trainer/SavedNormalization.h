// How the images were normalized that weights were trained on: notes in the metadata of their file.
#ifndef GC_RUNTIME_TRAINER_SAVEDNORMALIZATION_H
#define GC_RUNTIME_TRAINER_SAVEDNORMALIZATION_H

#include "runtime/trainer/TrainPlan.h"

#include <map>

namespace gc::runtime {

/// What is written beside weights: `gc.normalization`, as --normalize takes it, and its values for
/// other programs, `gc.normalization.mean` and `.deviation`. Nothing where it is not known.
std::map<std::string, std::string> normalizationNotes(const std::string &normalization);

/// That of the weights that a run starts from (--load, --resume); empty where their file says
/// nothing. Fails (bad input) where it says what is no normalization. A file that cannot be read
/// says nothing here: whoever loads it reports that.
Result<std::string> normalizationOfWeights(const TrainOptions &options);

/// Warns, on stderr, where images are normalized in another way than those of the weights were.
void warnOfOtherNormalization(const TrainOptions &options, const DataSource &data);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_SAVEDNORMALIZATION_H
