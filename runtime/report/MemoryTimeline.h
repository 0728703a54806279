// The memory of a step over its ops, as planned and as it would be with nothing recomputed: what
// the compile report says under `timeline`.
#ifndef GC_RUNTIME_REPORT_MEMORYTIMELINE_H
#define GC_RUNTIME_REPORT_MEMORYTIMELINE_H

#include "runtime/Error.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gc::runtime {

struct AliveTensor {
  std::string name, kind;
  uint64_t bytes = 0;
};

struct StepTimeline {
  uint64_t peakBytes = 0;
  std::string peakOp;
  std::vector<uint64_t> live;           // bytes at each op, with everything persistent
  std::vector<AliveTensor> aliveAtPeak; // largest first
};

struct MemoryTimeline {
  uint64_t persistentBytes = 0;        // weights, state, input, library pool: at every op
  std::optional<uint64_t> budgetBytes; // of `remat`
  StepTimeline before, after;          // without and with recomputation
};

/// Reads a compile report (JSON); nothing where it has no timeline. Fails (bad input) where what is
/// there is not one: the message names the key.
Result<std::optional<MemoryTimeline>> readTimeline(const std::string &compileReport);

/// {persistent, budget, before{peak, op, live[], alive{name[], kind[], bytes[], rest}}, after{peak,
/// op}}: what a page draws beside the plan's own buffers. `rest` is what is alive and not named.
nlohmann::ordered_json timelineData(const MemoryTimeline &timeline);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_MEMORYTIMELINE_H
