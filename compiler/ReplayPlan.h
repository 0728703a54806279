//===- ReplayPlan.h - proves a finished plan by replaying it ----*- C++ -*-===//
//
// The last word on a plan: looks at the file alone, shares nothing with what made it, and needs no
// device. Plain types, so that tools can call it.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_REPLAYPLAN_H
#define GC_COMPILER_REPLAYPLAN_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gc::plan {
struct Plan;
}

namespace gc {

struct PlanReplay {
  std::string error; // the first fault, naming command, buffers and bytes; empty: none was found
  size_t commands = 0;
  size_t buffers = 0;
  size_t reads = 0;

  bool ok() const { return error.empty(); }
  /// "replayed 412 commands, 398 buffers: no overlap, every read sees its value", or the error.
  std::string text() const;
};

/// Replays the commands of a verified plan (see runtime/plan/PlanFile.h) on a map from the arena's
/// bytes to the buffer and command that wrote them. Proves that
/// - buffers that share bytes do not live at the same time, unless one is a part of the other or
///   takes over exactly its range at the command where it dies;
/// - buffers are used within their lives;
/// - a command reads only bytes that were last written through the buffer it reads, and writes over
///   nothing that it reads, unless point by point in the same range;
/// - inputs are never written, and loss, metrics and kept gradients last until they are fetched.
/// Not seen: whether a kernel writes all of a buffer that it writes (it is taken to).
PlanReplay replayPlan(const plan::Plan &plan);

/// The same for the bytes of a plan; they are verified first.
PlanReplay replayPlan(std::span<const uint8_t> bytes);

} // namespace gc

#endif
