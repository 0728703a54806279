// mov with packing and unpacking, cvt, cvta, isspacep.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/LaneLoops.h"

#include <cstring>

using namespace gc::emulator::ptx;

namespace {

template <class T> void copy(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  writeLanes(warp.row<T>(in.operands[0]), mask, [=](uint32_t i) { return a[i]; });
}
void copyPredicate(Warp &warp, const Instruction &in, uint32_t mask) {
  writePredicate(warp.predicate(in.operands[0]), mask, warp.predicateSource(in, 0));
}
/// registerBytes: of the small registers.
void pack(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t part = in.registerBytes, whole = part * in.sources;
  std::byte *out = warp.row<std::byte>(in.operands[0]);
  for (uint32_t i = 0; i < in.sources; ++i) {
    const std::byte *from = warp.row<std::byte>(in.operands[1 + i]);
    forLanes(mask, [&](uint32_t lane) {
      std::memcpy(out + lane * whole + i * part, from + lane * part, part);
    });
  }
}
void unpack(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t part = in.registerBytes, whole = part * in.destinations;
  const std::byte *from = warp.row<std::byte>(in.operands[in.destinations]);
  for (uint32_t i = 0; i < in.destinations; ++i) {
    std::byte *out = warp.row<std::byte>(in.operands[i]);
    forLanes(mask, [&](uint32_t lane) {
      std::memcpy(out + lane * part, from + lane * whole + i * part, part);
    });
  }
}

Type part(Builder &b, Type type, size_t count) {
  if (sizeOf(type) == 8 && count == 2)
    return Type::B32;
  if ((sizeOf(type) == 8 && count == 4) || (sizeOf(type) == 4 && count == 2))
    return Type::B16;
  b.fail("a value cannot be packed or unpacked this way");
}

void decodeMove(Builder &b) {
  Type type = b.takeType({Type::Pred, Type::B16, Type::B32, Type::B64, Type::U16, Type::U32,
                          Type::U64, Type::S16, Type::S32, Type::S64, Type::F16, Type::BF16,
                          Type::F32, Type::F64, Type::F16x2, Type::BF16x2});
  b.instruction.kind = Instruction::Kind::Move;
  const Expression &to = b.takeOperand(), &from = b.takeOperand();
  if (to.kind == Expression::Kind::Vector) {
    Type small = part(b, type, to.children.size());
    for (const Expression &each : to.children)
      b.destinationOf(each, small);
    b.sourceOf(from, type);
    b.instruction.registerBytes = sizeOf(small);
    b.instruction.run = unpack;
    return;
  }
  b.destinationOf(to, type);
  if (from.kind == Expression::Kind::Vector) {
    Type small = part(b, type, from.children.size());
    for (const Expression &each : from.children)
      b.sourceOf(each, small);
    b.instruction.registerBytes = sizeOf(small);
    b.instruction.run = pack;
    return;
  }
  b.sourceOf(from, type);
  switch (sizeOf(type)) {
  case 0:
    b.instruction.run = copyPredicate;
    break;
  case 2:
    b.instruction.run = copy<uint16_t>;
    break;
  case 4:
    b.instruction.run = copy<uint32_t>;
    break;
  default:
    b.instruction.run = copy<uint64_t>;
  }
}

uint64_t windowOf(Builder &b) {
  auto space = b.takeAny({"global", "const", "shared", "shared::cta", "local", "param"});
  if (!space)
    b.fail("state space '." + b.nextModifier() + "' is not supported here");
  constexpr uint64_t windows[] = {0, 0, sharedWindow, sharedWindow, localWindow, paramWindow};
  return windows[*space];
}

/// immediate: what is added to make the address generic, or subtracted to undo that.
void shiftAddress(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint64_t *a = warp.row<uint64_t>(in.operands[1]);
  uint64_t offset = in.immediate;
  writeLanes(warp.row<uint64_t>(in.operands[0]), mask, [=](uint32_t i) { return a[i] + offset; });
}
void decodeAddress(Builder &b) {
  bool from = b.take("to");
  uint64_t window = windowOf(b);
  b.takeType({Type::U64});
  b.instruction.immediate = from ? 0 - window : window;
  b.instruction.run = shiftAddress;
  b.destination(Type::U64);
  b.source(Type::U64);
}

void isInSpace(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint64_t *a = warp.row<uint64_t>(in.operands[1]);
  auto windowOf = [](uint64_t address) {
    uint64_t window = address & windowMask;
    return window == sharedWindow || window == localWindow || window == paramWindow ? window : 0;
  };
  writePredicate(warp.predicate(in.operands[0]), mask,
                 lanesWhere([&](uint32_t i) { return windowOf(a[i]) == uint64_t(in.immediate); }));
}
void decodeIsSpace(Builder &b) {
  if (b.nextModifier() == "const")
    b.fail("constant memory cannot be told from global memory here");
  b.instruction.immediate = windowOf(b);
  b.instruction.run = isInSpace;
  b.destination(Type::Pred);
  b.source(Type::U64);
}

} // namespace

Decode gc::emulator::ptx::moveDecoder(std::string_view opcode) {
  if (opcode == "mov")
    return decodeMove;
  if (opcode == "cvt")
    return decodeConvert;
  if (opcode == "cvta")
    return decodeAddress;
  if (opcode == "isspacep")
    return decodeIsSpace;
  return nullptr;
}
