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
  /// Whether the buffer may share its range with one that the command writes: each element is read
  /// before it is written.
  bool pointwise = false;
  /// Whether it is scratch that only this command uses.
  bool isWorkspace = false;
  /// The ranges of bytes that are touched, in order and disjoint; one where they are contiguous.
  std::vector<ByteRange> ranges;

  ByteRange span() const { return {ranges.front().begin, ranges.back().end}; }
};

/// What `command` of the verified `plan` reads and writes. Sets `error` where the plan does not
/// say.
std::vector<PlanAccess> accessesOf(const plan::Plan &plan, const plan::Command &command,
                                   std::string &error);

} // namespace gc

#endif
