// mma: a warp multiplies small matrices, whose elements are spread over its lanes.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/LaneLoops.h"

#include <cmath>

using namespace gc::emulator::ptx;

namespace {

/// TF32 has f32's exponent and 10 bits of its mantissa; the other 13 are not looked at.
float asTf32(uint32_t bits) { return std::bit_cast<float>(bits & ~uint32_t(0x1FFF)); }

constexpr uint32_t kRows = 16, kColumns = 8, kDepth = 8;

/// d = a * b + c. With g = lane / 4 and t = lane % 4, a lane has
///   a[g][t], a[g + 8][t], a[g][t + 4], a[g + 8][t + 4]
///   b[t][g], b[t + 4][g]
///   c[g][2 t], c[g][2 t + 1], c[g + 8][2 t], c[g + 8][2 t + 1], and d likewise.
/// Products are exact; they are added in f32, in order of depth. (A GPU does not say its order.)
void multiplyTf32(Warp &warp, const Instruction &in, uint32_t mask) {
  if (mask != ~uint32_t(0))
    throw LaneFault{Fault::Kind::DivergentBarrier, uint32_t(std::countr_one(mask)),
                    "all threads of the warp must execute mma.sync.aligned together"};
  float a[kRows][kDepth], b[kDepth][kColumns], d[kRows][kColumns];
  auto rowOf = [](uint32_t lane, uint32_t i) { return lane / 4 + i % 2 * 8; };
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t *values = warp.row<uint32_t>(in.operands[4 + i]);
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      a[rowOf(lane, i)][lane % 4 + i / 2 * 4] = asTf32(values[lane]);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t *values = warp.row<uint32_t>(in.operands[8 + i]);
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      b[lane % 4 + i * 4][lane / 4] = asTf32(values[lane]);
  }
  auto placeOf = [&](uint32_t lane, uint32_t i) -> float & {
    return d[rowOf(lane, i / 2)][lane % 4 * 2 + i % 2];
  };
  for (uint32_t i = 0; i < 4; ++i) {
    const float *values = warp.row<float>(in.operands[10 + i]);
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      placeOf(lane, i) = values[lane];
  }
  for (auto &row : d)
    for (uint32_t column = 0; column < kColumns; ++column)
      for (uint32_t k = 0; k < kDepth; ++k)
        row[column] = std::fma(a[&row - d][k], b[k][column], row[column]);
  for (uint32_t i = 0; i < 4; ++i) {
    float *values = warp.row<float>(in.operands[i]);
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      values[lane] = placeOf(lane, i);
  }
}

void decodeMultiply(Builder &b) {
  for (const char *modifier :
       {"sync", "aligned", "m16n8k8", "row", "col", "f32", "tf32", "tf32", "f32"})
    if (!b.take(modifier))
      b.fail("only mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 is supported");
  b.instruction.run = multiplyTf32;
  auto take = [&](size_t count, Type type, bool isDestination) {
    const Expression &vector = b.takeOperand();
    if (vector.kind != Expression::Kind::Vector || vector.children.size() != count)
      b.fail("expected " + std::to_string(count) + " registers in braces");
    for (const Expression &each : vector.children)
      isDestination ? b.destinationOf(each, type) : b.sourceOf(each, type);
  };
  take(4, Type::F32, true);
  take(4, Type::B32, false);
  take(2, Type::B32, false);
  take(4, Type::F32, false);
}

} // namespace

Decode gc::emulator::ptx::matrixDecoder(std::string_view opcode) {
  return opcode == "mma" ? decodeMultiply : nullptr;
}
