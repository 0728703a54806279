//===- AddressResolution.h - from device addresses to host pointers --------===//
#pragma once

#include "test/emulator/ptx/Warp.h"

namespace gc::emulator::ptx {

/// The lanes' addresses of a memory instruction (its source `source`), checked and translated.
struct Resolved {
  std::byte *pointers[warpSize];
  bool contiguous; ///< all 32 lanes, one after another
};
void resolve(Warp &warp, const Instruction &in, uint32_t mask, AccessKind kind, Resolved &out);

} // namespace gc::emulator::ptx
