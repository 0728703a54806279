// What ops took in the steps of a run, for the compiler's next prediction.
#ifndef GC_RUNTIME_REPORT_OPTIMES_H
#define GC_RUNTIME_REPORT_OPTIMES_H

#include "runtime/Measurements.h"

#include <string>
#include <vector>

namespace gc::runtime {

/// Ops that do the same.
struct OpTime {
  std::string work; ///< CommandTime::work
  double seconds = 0;
};

/// Below this an op is little more than its start, and its time mostly noise.
constexpr double kLeastOpSeconds = 5e-6;

/// Of the ops of a step that ran, each with all its commands and, where several do the same, the
/// median of them. Without ops that were computed again, which run at another time of the step, and
/// without very short ones.
std::vector<OpTime> opTimesOf(const std::vector<CommandTime> &commands);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_OPTIMES_H
