// What becomes of each forward value that the backward pass reads: what the compile report says
// under `saved`.
#ifndef GC_RUNTIME_REPORT_SAVEDVALUES_H
#define GC_RUNTIME_REPORT_SAVEDVALUES_H

#include "runtime/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc::runtime {

struct SavedValue {
  int64_t op = -1;        // as Command.op of the list micro_batch
  std::string name;       // of its op
  int64_t result = 0;     // which result of the op
  uint64_t bytes = 0;     // in a micro-batch
  bool kept = true;       // else it is computed again
  int64_t executions = 1; // of its op in a micro-batch
  double seconds = 0;     // that one more execution takes, as predicted
  bool repeatable = true; // its op gives the same bits again
  bool atPeak = false;    // alive at the peak of the step that recomputes nothing
};

/// Reads a compile report (JSON); nothing where it does not tell, as in plans of older compilers.
/// Fails (bad input) where what is there is not such a list: the message names the key.
Result<std::optional<std::vector<SavedValue>>> readSavedValues(const std::string &compileReport);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_SAVEDVALUES_H
