// How many bytes a plan may have.
#ifndef GC_TOOLS_GC_COMPILE_MEMORYROOM_H
#define GC_TOOLS_GC_COMPILE_MEMORYROOM_H

#include "compiler/Compile.h"
#include "runtime/Error.h"

#include <optional>
#include <string>

/// What the driver's context, the code of libraries and a desktop take of a card where the user
/// does not say it. Not measured: none of this project's machines has a GPU.
inline constexpr uint64_t kDefaultCardReserve = uint64_t(1) << 30;

struct MemoryRoom {
  uint64_t bytes = 0;        // for all bytes of the plan
  uint64_t reserveBytes = 0; // that were taken off
  uint64_t cardBytes = 0;    // of the GPU, where that is what the room was taken from; else 0
  std::string device;        // "cpu", or "cuda, RTX 3060 (sm_86)"

  /// How outputs tell it.
  std::string text() const;
};

/// From --budget, or where there is none from the memory of the card, less `reserve`. Without a
/// `reserve` nothing is taken off a --budget, which is for the plan alone, and kDefaultCardReserve
/// off a card. Fails (bad input) where there is neither a budget nor a card.
gc::runtime::Result<MemoryRoom> memoryRoom(const gc::CompileOptions &options,
                                           std::optional<uint64_t> reserve);

#endif // GC_TOOLS_GC_COMPILE_MEMORYROOM_H
