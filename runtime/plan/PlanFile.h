// A plan in memory, checked so far that executing it touches nothing outside its arena.
#ifndef GC_RUNTIME_PLAN_PLANFILE_H
#define GC_RUNTIME_PLAN_PLANFILE_H

#include "runtime/plan/ElementType.h"
#include "runtime/plan/PlanSeal.h"
#include "runtime/plan/Plan_generated.h"
#include "runtime/plan/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gc::runtime {

/// Every buffer starts at a multiple of this.
constexpr uint64_t kBufferAlignment = 64;

/// Owns the bytes of one plan. Whoever holds a PlanFile may follow every index in it: load and
/// fromMemory check the file's frame (version, length, checksum: PlanSeal.h), then structure
/// (FlatBuffers), then meaning (verifyPlan).
class PlanFile {
public:
  /// Reads a file. BadInput when it is missing, truncated, corrupt, of another version or unsound.
  static Result<PlanFile> load(const std::string &path);
  /// Copies and verifies a whole file; `name` stands for the path in messages.
  static Result<PlanFile> fromMemory(std::span<const std::byte> bytes,
                                     const std::string &name = "plan");

  const gc::plan::Plan &operator*() const { return *plan_; }
  const gc::plan::Plan *operator->() const { return plan_; }
  const gc::plan::Plan &get() const { return *plan_; }
  size_t sizeBytes() const { return size_; }

private:
  PlanFile() = default;
  std::vector<uint64_t> storage_; // 8-byte aligned, as FlatBuffers needs
  size_t size_ = 0;
  const gc::plan::Plan *plan_ = nullptr;
};

/// The semantic rules: buffers inside the arena and aligned, indices in range, enough bytes behind
/// every command, strides in bounds, inputs and variables consistent, kernels named. For a
/// structurally valid plan (FlatBuffers' verifier has accepted it). The error names the table
/// entry.
Status verifyPlan(const gc::plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_PLANFILE_H
