// ld, st and what goes with them.
#include "test/emulator/ptx/AddressResolution.h"
#include "test/emulator/ptx/Builder.h"

#include <cstring>

using namespace gc::emulator::ptx;

namespace {

template <class M, class R> void load(Warp &warp, const Instruction &in, uint32_t mask) {
  Resolved at;
  resolve(warp, in, mask, AccessKind::Read, at);
  if (sizeof(M) == sizeof(R) && at.contiguous && in.memory.count == 1) {
    std::memcpy(warp.row<R>(in.operands[0]), at.pointers[0], warpSize * sizeof(R));
    return;
  }
  for (uint32_t element = 0; element < in.memory.count; ++element) {
    R *row = warp.row<R>(in.operands[element]);
    forLanes(mask, [&](uint32_t lane) {
      M value;
      std::memcpy(&value, at.pointers[lane] + element * sizeof(M), sizeof(M));
      row[lane] = static_cast<R>(value); // extends the sign if M has one
    });
  }
}

template <class M, class R> void store(Warp &warp, const Instruction &in, uint32_t mask) {
  Resolved at;
  resolve(warp, in, mask, AccessKind::Write, at);
  if (sizeof(M) == sizeof(R) && at.contiguous && in.memory.count == 1) {
    std::memcpy(at.pointers[0], warp.row<R>(in.operands[1]), warpSize * sizeof(R));
    return;
  }
  for (uint32_t element = 0; element < in.memory.count; ++element) {
    const R *row = warp.row<R>(in.operands[1 + element]);
    forLanes(mask, [&](uint32_t lane) {
      M value = static_cast<M>(row[lane]);
      std::memcpy(at.pointers[lane] + element * sizeof(M), &value, sizeof(M));
    });
  }
}

template <class M> Handler loadTo(uint32_t registerBytes) {
  switch (registerBytes) {
  case 2:
    return load<M, uint16_t>;
  case 4:
    return load<M, uint32_t>;
  default:
    return load<M, uint64_t>;
  }
}
template <class M> Handler storeFrom(uint32_t registerBytes) {
  switch (registerBytes) {
  case 2:
    return store<M, uint16_t>;
  case 4:
    return store<M, uint32_t>;
  default:
    return store<M, uint64_t>;
  }
}

/// Hints about caches change no value.
void takeCacheHints(Builder &b) {
  while (b.takeAny({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal",
                    "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
                    "L2::64B", "L2::128B", "L2::256B"}))
    ;
}

void decodeAccess(Builder &b) {
  bool loads = b.opcode() != "st";
  MemoryMode &memory = b.instruction.memory;
  if (b.takeAny({"volatile", "relaxed", "acquire", "release"}))
    memory.strong = true;
  else
    b.take("weak");
  b.takeAny({"cta", "cluster", "gpu", "sys"});
  constexpr Space spaces[] = {Space::Global, Space::Const, Space::Shared, Space::Shared,
                              Space::Local,  Space::Param, Space::Param,  Space::Param};
  if (auto space = b.takeAny({"global", "const", "shared", "shared::cta", "local", "param",
                              "param::entry", "param::func"}))
    memory.space = spaces[*space];
  takeCacheHints(b);
  if (auto count = b.takeAny({"v2", "v4", "v8"}))
    memory.count = 2u << *count;
  takeCacheHints(b);
  Type type =
      b.takeType({Type::B8, Type::B16, Type::B32, Type::B64, Type::U8, Type::U16, Type::U32,
                  Type::U64, Type::S8, Type::S16, Type::S32, Type::S64, Type::F32, Type::F64});
  memory.bytes = sizeOf(type);
  memory.isSigned = isSigned(type);
  if (memory.bytes * memory.count > 32)
    b.fail("a vector of more than 32 bytes");
  if (!loads)
    b.address();
  if (loads)
    b.vectorDestination(type, memory.count);
  else
    b.vectorSource(type, memory.count);
  if (loads)
    b.address();
  uint32_t width = b.instruction.registerBytes;
  switch (memory.bytes) {
  case 1:
    b.instruction.run = !loads            ? storeFrom<uint8_t>(width)
                        : memory.isSigned ? loadTo<int8_t>(width)
                                          : loadTo<uint8_t>(width);
    break;
  case 2:
    b.instruction.run = !loads            ? storeFrom<uint16_t>(width)
                        : memory.isSigned ? loadTo<int16_t>(width)
                                          : loadTo<uint16_t>(width);
    break;
  case 4:
    b.instruction.run = !loads            ? storeFrom<uint32_t>(width)
                        : memory.isSigned ? loadTo<int32_t>(width)
                                          : loadTo<uint32_t>(width);
    break;
  default:
    b.instruction.run = loads ? loadTo<uint64_t>(width) : storeFrom<uint64_t>(width);
  }
}

void nothing(Warp &, const Instruction &, uint32_t) {}

/// Blocks run one after another and warps in lockstep: memory is always as strong as a fence asks.
void decodeFence(Builder &b) {
  if (b.opcode() == "fence")
    b.takeAny({"sc", "acq_rel"});
  if (!b.takeAny({"cta", "cluster", "gpu", "sys", "gl"}))
    b.fail("a scope is missing");
  b.instruction.run = nothing;
}

} // namespace

Decode gc::emulator::ptx::memoryDecoder(std::string_view opcode) {
  if (opcode == "ld" || opcode == "ldu" || opcode == "st")
    return decodeAccess;
  if (opcode == "membar" || opcode == "fence")
    return decodeFence;
  return nullptr;
}
