#include "test/emulator/ptx/AddressResolution.h"

#include <algorithm>

using namespace gc::emulator::ptx;

namespace {

void countSectors(Statistics &statistics, const uint64_t *addresses, uint32_t mask,
                  uint32_t bytes) {
  uint64_t sectors[warpSize * 2];
  uint32_t count = 0;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t first = addresses[lane] / 32, last = (addresses[lane] + bytes - 1) / 32;
    for (uint64_t each = first; each <= last; ++each)
      if (!count || sectors[count - 1] != each)
        sectors[count++] = each;
  });
  std::sort(sectors, sectors + count);
  ++statistics.globalAccesses;
  statistics.globalTransactions += std::unique(sectors, sectors + count) - sectors;
  statistics.globalBytes += uint64_t(bytes) * std::popcount(mask);
}

/// 32 banks of 4 bytes. 8-byte accesses go in two halves of the warp, 16-byte ones in four
/// quarters; each part takes as many wavefronts as the busiest bank has different words.
void countConflicts(Statistics &statistics, const uint64_t *addresses, uint32_t mask,
                    uint32_t bytes) {
  uint32_t parts = std::max(1u, bytes / 4), lanes = warpSize / parts;
  for (uint32_t part = 0; part < parts; ++part) {
    uint64_t words[warpSize];
    uint32_t count = 0;
    for (uint32_t lane = part * lanes; lane < (part + 1) * lanes; ++lane)
      if (mask >> lane & 1)
        for (uint32_t k = 0; k < parts; ++k)
          words[count++] = addresses[lane] / 4 + k;
    if (!count)
      continue;
    std::sort(words, words + count);
    count = std::unique(words, words + count) - words;
    uint32_t perBank[32]{}, most = 0;
    for (uint32_t i = 0; i < count; ++i)
      most = std::max(most, ++perBank[words[i] % 32]);
    ++statistics.sharedAccesses;
    statistics.sharedBankConflicts += most - 1;
  }
}

/// Runs of neighbouring lanes at neighbouring addresses, or at the same one when reading, are one
/// access; if that faults, they are tried one by one to find the culprit.
void resolveGlobal(Warp &warp, const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                   AccessKind kind, Resolved &out) {
  GlobalMemory &memory = warp.launch.memory;
  if (warp.launch.statistics)
    countSectors(*warp.launch.statistics, addresses, mask, bytes);
  for (uint32_t left = mask; left;) {
    uint32_t run[warpSize], count = 0;
    uint64_t start = addresses[std::countr_zero(left)], end = start;
    uint64_t previous = start;
    while (left) {
      uint32_t lane = std::countr_zero(left);
      bool next = addresses[lane] == end;
      if (!next && !(kind == AccessKind::Read && count && addresses[lane] == previous))
        break;
      previous = addresses[lane];
      end += next ? bytes : 0;
      run[count++] = lane;
      left &= left - 1;
    }
    std::byte *base = nullptr;
    try {
      base = memory.access(start, end - start, kind);
    } catch (const Fault &fault) {
      if (count == 1)
        throw LaneFault{fault.kind, run[0], fault.what()};
    }
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t address = addresses[run[i]];
      if (base)
        out.pointers[run[i]] = base + (address - start);
      else
        try {
          out.pointers[run[i]] = memory.access(address, bytes, kind);
        } catch (const Fault &fault) {
          throw LaneFault{fault.kind, run[i], fault.what()};
        }
    }
    out.contiguous = count == warpSize && end - start == uint64_t(warpSize) * bytes && base;
  }
}

std::byte *parameter(Warp &warp, uint64_t address, uint32_t bytes, AccessKind kind, uint32_t lane) {
  std::span<const std::byte> all = warp.launch.launch.parameters;
  uint64_t size = warp.launch.kernel.info.parameterBytes;
  if (address > size || bytes > size - address)
    throw LaneFault{Fault::Kind::IllegalAddress, lane,
                    "access beyond the kernel's parameters: byte " + std::to_string(address) +
                        " of " + std::to_string(size)};
  if (kind != AccessKind::Read)
    throw LaneFault{Fault::Kind::IllegalAddress, lane, "write to the kernel's parameters"};
  return const_cast<std::byte *>(all.data()) + address;
}

void checkAlignment(const uint64_t *addresses, uint32_t mask, uint32_t bytes) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < warpSize; ++i)
    bits |= mask >> i & 1 ? addresses[i] : 0;
  if (!(bits & (bytes - 1)))
    return;
  forLanes(mask, [&](uint32_t lane) {
    if (addresses[lane] & (bytes - 1))
      throw LaneFault{Fault::Kind::Misaligned, lane,
                      "misaligned access: " + std::to_string(bytes) + " bytes at " +
                          std::to_string(addresses[lane])};
  });
}

/// Lanes that read what the lanes `near` and `far` before them read in the same instruction.
uint32_t lanesLike(const uint64_t *addresses, uint32_t near, uint32_t far) {
  uint32_t lanes = 0;
  for (uint32_t i = far; i < warpSize; ++i)
    lanes |= uint32_t(addresses[i] == addresses[i - near] && addresses[i] == addresses[i - far])
             << i;
  return lanes;
}

/// Lanes at whose address two others have read already. A read of one word by many lanes is
/// recorded by the first two: then it has several readers, and more change nothing. Looked for are
/// the patterns of matrix products: neighbours at one address, or groups of 4 or 8 lanes that read
/// the same.
uint32_t lanesThatShare(const uint64_t *addresses, uint32_t mask) {
  if (mask != ~0u) {
    uint32_t first = std::countr_zero(mask), rest = mask & (mask - 1);
    bool same = true;
    forLanes(mask, [&](uint32_t lane) { same &= addresses[lane] == addresses[first]; });
    return same && rest ? rest & (rest - 1) : 0;
  }
  return lanesLike(addresses, 1, 2) | lanesLike(addresses, 4, 8) | lanesLike(addresses, 8, 16);
}

void resolveShared(Warp &warp, const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                   AccessKind kind, bool strong, Resolved &out) {
  if (warp.launch.statistics)
    countConflicts(*warp.launch.statistics, addresses, mask, bytes);
  uint32_t first = std::countr_zero(mask);
  uint32_t sharing = kind == AccessKind::Read ? lanesThatShare(addresses, mask) : 0;
  SharedMemory &shared = warp.shared;
  uint32_t index = warp.index;
  forLanes(mask & ~sharing, [&](uint32_t lane) {
    out.pointers[lane] = shared.access(addresses[lane], bytes, kind, strong, index, lane);
  });
  forLanes(sharing, [&](uint32_t lane) {
    out.pointers[lane] = out.pointers[first] + int64_t(addresses[lane] - addresses[first]);
  });
}

} // namespace

void gc::emulator::ptx::resolve(Warp &warp, const Instruction &in, uint32_t mask, AccessKind kind,
                                Resolved &out) {
  const MemoryMode &memory = in.memory;
  uint32_t bytes = memory.bytes * memory.count;
  uint64_t addresses[warpSize], offset = in.immediate;
  Operand operand = in.operands[in.destinations];
  if (memory.addressBytes == 4) {
    const uint32_t *row = warp.row<uint32_t>(operand);
    for (uint32_t i = 0; i < warpSize; ++i)
      addresses[i] = uint32_t(row[i] + offset);
  } else {
    const uint64_t *row = warp.row<uint64_t>(operand);
    for (uint32_t i = 0; i < warpSize; ++i)
      addresses[i] = row[i] + offset;
  }
  checkAlignment(addresses, mask, bytes);
  out.contiguous = false;
  uint32_t global = mask, shared = 0, local = 0, parameters = 0;
  switch (memory.space) {
  case Space::Shared:
    std::swap(global, shared);
    break;
  case Space::Local:
    std::swap(global, local);
    break;
  case Space::Param:
    std::swap(global, parameters);
    break;
  case Space::Generic:
    forLanes(mask, [&](uint32_t lane) {
      uint64_t window = addresses[lane] & windowMask;
      uint32_t *of = window == sharedWindow  ? &shared
                     : window == localWindow ? &local
                     : window == paramWindow ? &parameters
                                             : &global;
      *of |= 1u << lane;
      if (of != &global) {
        global &= ~(1u << lane);
        addresses[lane] &= ~windowMask;
      }
    });
    break;
  default:
    break;
  }
  if (global)
    resolveGlobal(warp, addresses, global, bytes, kind, out);
  if (shared)
    resolveShared(warp, addresses, shared, bytes, kind, memory.strong || kind == AccessKind::Atomic,
                  out);
  forLanes(local, [&](uint32_t lane) {
    if (kind == AccessKind::Atomic) // reads and writes
      warp.local.access(addresses[lane], bytes, false, lane);
    out.pointers[lane] = warp.local.access(addresses[lane], bytes, kind != AccessKind::Read, lane);
  });
  // Nearly always all lanes read the same parameter.
  std::byte *last = nullptr;
  uint64_t lastAddress = 0;
  forLanes(parameters, [&](uint32_t lane) {
    if (!last || addresses[lane] != lastAddress)
      last = parameter(warp, lastAddress = addresses[lane], bytes, kind, lane);
    out.pointers[lane] = last;
  });
}
