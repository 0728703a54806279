// A part of the training split that is kept for validation.
#ifndef GC_RUNTIME_DATA_HOLDOUT_H
#define GC_RUNTIME_DATA_HOLDOUT_H

#include "runtime/data/Dataset.h"

#include <optional>

namespace gc::runtime {

/// What --validation asks for.
struct HoldoutSize {
  std::optional<double> fraction; // of the training split, above 0 and below 1
  std::optional<int64_t> samples;
  bool isOwn() const { return !fraction && !samples; } // the data's own split
};
/// `0.1`, `5000` or `own`.
Result<HoldoutSize> parseHoldout(const std::string &text);

/// Moves samples of the training split to the validation split: which, is a function of the seed
/// and of the split's size. Both stay in the data's order. Fails (bad input) where the data is made
/// on the way, or where one of the two would be empty.
Status holdOut(DataSource &source, const HoldoutSize &size, uint64_t seed);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_HOLDOUT_H
