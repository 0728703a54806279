// Why a saved value is kept or made again, and at what price, in words.
#ifndef GC_RUNTIME_REPORT_SAVEDREASONS_H
#define GC_RUNTIME_REPORT_SAVEDREASONS_H

#include "runtime/report/SavedValues.h"

#include <cstdint>
#include <string>

namespace gc::runtime {

/// "recomputed: frees 49.0 MiB at the peak for 11.62 ms": only what the report proves.
/// `microBatches` are those of a step, which pays as often.
std::string reasonText(const SavedValue &value, int64_t microBatches);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_SAVEDREASONS_H
