// What the compiler decided about each value that backward ops read: kept from the forward pass or
// made again, and at what price. The compile report says it under `saved`.
#ifndef GC_RUNTIME_REPORT_SAVEDVALUES_H
#define GC_RUNTIME_REPORT_SAVEDVALUES_H

#include "runtime/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc::runtime {

struct SavedValue {
  int64_t op = 0; // as Command.op
  std::string name;
  int64_t result = 0; // which of the op's
  uint64_t bytes = 0;
  bool kept = true;
  int64_t executions = 1; // times its op runs in a micro-batch
  double seconds = 0;     // one more execution, predicted
  bool repeatable = true; // its op may run again
  bool atPeak = false;    // alive at the peak of the step that recomputes nothing
};

/// Nothing where the report does not tell. Fails (bad input) where what is there is not that: the
/// message names the key.
Result<std::optional<std::vector<SavedValue>>> readSavedValues(const std::string &compileReport);

/// "recomputed: frees 49.0 MiB at the peak for 11.62 ms": only what the report proves.
/// `microBatches` are those of a step, which pays as often.
std::string reasonText(const SavedValue &value, int64_t microBatches);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_SAVEDVALUES_H
