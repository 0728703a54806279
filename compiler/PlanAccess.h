//===- PlanAccess.h - what the commands of a plan touch ---------*- C++ -*-===//
#ifndef GC_COMPILER_PLANACCESS_H
#define GC_COMPILER_PLANACCESS_H

#include "passes/algorithms/packing/ByteMap.h"
#include "runtime/plan/Plan_generated.h"
#include <string>
#include <vector>

namespace gc {

/// A buffer that a command uses.
struct PlanAccess {
  uint32_t buffer = 0;
  bool reads = false, writes = false;
  /// May lie on a written buffer of the same range: read at a point before it is written there.
  bool pointwise = false;
  /// Scratch of the command alone.
  bool isWorkspace = false;
  /// What is touched, in order and apart; one range where it is contiguous.
  std::vector<ByteRange> ranges;

  ByteRange span() const { return {ranges.front().begin, ranges.back().end}; }
};

/// What `command` of the verified `plan` reads and writes. Sets `error` where the plan does not
/// say.
std::vector<PlanAccess> accessesOf(const plan::Plan &plan, const plan::Command &command,
                                   std::string &error);

} // namespace gc

#endif
