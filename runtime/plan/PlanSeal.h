// The frame of a plan file: a header of fixed size in front of the FlatBuffer, with a checksum over
// every other byte of the file. It is checked before anything in the file is believed.
//
//   bytes  0..7   magic         0x89 'G' 'C' 'P' 'L' 'A' 'N' '\n'
//   bytes  8..11  version       kPlanVersion
//   bytes 12..15  checksum      CRC-32 of bytes 0..11 and of bytes 16 to the end
//   bytes 16..23  length        bytes of the FlatBuffer, which follows and ends the file
//
// All numbers are little-endian. CRC-32 finds every change of one or two bits (up to 512 MiB) and
// every burst of up to 32; another change passes once in 2³² times. It guards against accidents:
// who wants to can compute it anew, so the verifier behind it relies on nothing.
#ifndef GC_RUNTIME_PLAN_PLANSEAL_H
#define GC_RUNTIME_PLAN_PLANSEAL_H

#include "runtime/plan/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gc::runtime {

/// The version that this runtime reads and this compiler writes.
constexpr uint32_t kPlanVersion = 5;
constexpr size_t kPlanHeaderBytes = 24;

/// Whether these are the bytes of a plan, of any version and perhaps damaged, rather than text.
bool looksLikePlan(std::span<const std::byte> bytes);

/// A plan file: the header and then `flatbuffer`.
std::vector<std::byte> sealPlan(std::span<const uint8_t> flatbuffer);

/// The FlatBuffer in a plan file (a part of `bytes`). BadInput for what is not a plan, has another
/// version, is cut, has something behind its end or has a byte changed. `name` is for messages.
Result<std::span<const std::byte>> openSeal(std::span<const std::byte> bytes,
                                            const std::string &name);

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_PLANSEAL_H
