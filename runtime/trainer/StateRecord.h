// What a run computed, step by step, to the bit: copies to hold another run against.
#ifndef GC_RUNTIME_TRAINER_STATERECORD_H
#define GC_RUNTIME_TRAINER_STATERECORD_H

#include "runtime/Error.h"
#include "runtime/plan/PlanFile.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gc::runtime {

/// One tensor at one moment. Does not own the bits.
struct TensorBits {
  std::string name; // with what it is: "gradient of 'fc.weight'"
  plan::DType dtype = plan::DType_F32;
  std::span<const std::byte> bits;
};

/// Where two tensors first differ. Equal means equal bits: -0 is not 0, and a NaN equals only a NaN
/// with the same payload.
struct Difference {
  std::string tensor;
  uint64_t step = 0;                    // from 1
  uint64_t index = 0;                   // of the first element that differs, as it lies in memory
  uint64_t differing = 0, elements = 0; // how many differ, of how many
  std::string reference, tested;        // both values there, with their bits
  uint64_t otherTensors = 0;            // that differ after the same step
};
/// "gradient of 'w' differs after step 2: element 17 is … without recomputation and … with it; 3 of
/// 64 elements differ, and so do 5 other tensors"
std::string differenceText(const Difference &difference);

/// Nothing where all bits are equal. Fails (run failed) where the tensors have different names,
/// types or sizes, for then they are no counterparts.
Result<std::optional<Difference>> compareBits(const TensorBits &reference,
                                              const TensorBits &tested);

class StateRecord {
public:
  /// Copies the state after the next step.
  void add(const std::vector<TensorBits> &state);
  size_t steps() const { return bits.size(); }
  /// What was recorded of a step (from 1, at most steps()); valid as long as the record.
  std::vector<TensorBits> state(uint64_t step) const;

  /// Holds the state after a step (from 1) against the one recorded: the first tensor that differs.
  /// Fails (run failed) where the record has no such step or the tensors are not counterparts.
  Result<std::optional<Difference>> compare(uint64_t step,
                                            const std::vector<TensorBits> &state) const;

private:
  std::vector<TensorBits> tensors;          // names and types, the same after every step
  std::vector<uint64_t> offsets;            // of each tensor in a step's bits
  std::vector<std::vector<std::byte>> bits; // of each step
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_STATERECORD_H
