// What threads do together: shuffles, votes, matches, reductions, barriers, atomics, divergence.
#include "test/emulator/ptx/TestKernel.h"

#include <algorithm>
#include <cmath>

using namespace gc::emulator::ptx;

namespace {

/// Stores %r0 of every thread.
const std::string storeResult =
    "mul.wide.u32 %d0, %t, 4;\nadd.u64 %d0, %d0, %a0;\nst.global.b32 [%d0], %r0;\n";

std::vector<uint32_t> perThread(const std::string &body, Dim3 block = {32}) {
  TestMemory memory;
  uint32_t count = block.x * block.y * block.z;
  uint64_t out = memory.allocate(count * 4, 256);
  runBody(memory, body + storeResult, {out}, block);
  return memory.download<uint32_t>(out, count);
}

TEST(Shuffle, FollowsThePseudoCodeOfTheIsa) {
  for (std::string mode : {"up", "down", "bfly", "idx"})
    for (uint32_t segment : {0u, 16u, 24u, 28u, 30u, 31u})
      for (uint32_t clamp : {0u, 7u, 15u, 31u})
        for (uint32_t b : {0u, 1u, 2u, 5u, 16u, 31u, 33u}) {
          uint32_t c = segment << 8 | clamp;
          auto got =
              perThread("add.u32 %r1, %t, 100;\nshfl.sync." + mode + ".b32 %r2|%p1, %r1, " +
                        std::to_string(b) + ", " + std::to_string(c) +
                        ", 0xffffffff;\nselp.u32 %r3, 1000, 0, %p1;\nadd.u32 %r0, %r2, %r3;\n");
          for (int lane = 0; lane < 32; ++lane) {
            int bval = b & 31, last = (lane & segment) | (clamp & ~segment & 31), j;
            bool valid;
            if (mode == "up") {
              j = lane - bval;
              valid = j >= last;
            } else if (mode == "down") {
              j = lane + bval;
              valid = j <= last;
            } else if (mode == "bfly") {
              j = lane ^ bval;
              valid = j <= last;
            } else {
              j = (lane & segment) | (bval & ~segment);
              valid = j <= last;
            }
            uint32_t want = 100 + (valid ? j + 1000 : lane);
            ASSERT_EQ(got[lane], want) << mode << " b " << b << " c " << c << " lane " << lane;
          }
        }
}

// Matrices of small whole numbers, spread over the lanes as the PTX manual draws them.
TEST(Matrix, MultipliesAsTheIsaSpreadsElements) {
  auto a = [](uint32_t row, uint32_t k) { return float(int(row * 3 + k * 5) % 17 - 8); };
  auto b = [](uint32_t k, uint32_t column) { return float(int(k * 7 + column * 2) % 13 - 6); };
  auto c = [](uint32_t row, uint32_t column) { return float(row * 100 + column); };
  TestMemory memory;
  std::vector<float> elements; // ten of each lane: a, b, c
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t g = lane / 4, t = lane % 4;
    for (float value : {a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4), b(t, g), b(t + 4, g),
                        c(g, 2 * t), c(g, 2 * t + 1), c(g + 8, 2 * t), c(g + 8, 2 * t + 1)})
      elements.push_back(value);
  }
  // Bits below TF32's mantissa are not looked at.
  elements[0] = std::nextafter(elements[0], 2 * elements[0]);
  uint64_t in = memory.upload(elements), out = memory.allocate(32 * 16, 256);
  std::string load = "mul.wide.u32 %d0, %t, 40;\nadd.u64 %d0, %d0, %a0;\n";
  for (int i = 0; i < 10; ++i)
    load += std::string("ld.global.") + (i < 6 ? "b32 %r" : "f32 %f") + std::to_string(i) +
            ", [%d0+" + std::to_string(4 * i) + "];\n";
  std::string multiply = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f10, %f11, %f12, "
                         "%f13}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f6, %f7, %f8, %f9};\n";
  std::string store = "mul.wide.u32 %d1, %t, 16;\nadd.u64 %d1, %d1, %a1;\n"
                      "st.global.v4.f32 [%d1], {%f10, %f11, %f12, %f13};\n";
  runBody(memory, load + multiply + store, {in, out}, {32});
  auto got = memory.download<float>(out, 128);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float want = c(row, column);
      for (uint32_t k = 0; k < 8; ++k)
        want += a(row, k) * b(k, column);
      EXPECT_EQ(got[lane * 4 + i], want) << "row " << row << " column " << column;
    }
  // Half a warp cannot.
  EXPECT_FAULT(DivergentBarrier, runBody(memory, load + multiply + store, {in, out}, {16}));
}

TEST(Shuffle, PartialWarpsAndMasks) {
  // Half a warp, naming just itself: fine. A source outside of the mask is not.
  std::string half = "setp.lt.u32 %p1, %t, 16;\nmov.u32 %r0, %t;\n@!%p1 bra skip;\n";
  auto got = perThread(half + "shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffff;\nskip:\n");
  EXPECT_EQ(got[4], 5u);
  EXPECT_EQ(got[20], 20u);
  EXPECT_FAULT(IllegalInstruction,
               perThread(half + "shfl.sync.bfly.b32 %r0, %t, 16, 31, 0xffff;\nskip:\n"));
  EXPECT_FAULT(DivergentBarrier,
               perThread(half + "shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffffffff;\nskip:\n"));
  EXPECT_FAULT(IllegalInstruction, perThread("shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffff;\n"));
  // Lanes that never existed may be named but not read.
  EXPECT_EQ(perThread("shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffffffff;\n", {8})[6], 7u);
  EXPECT_FAULT(IllegalInstruction,
               perThread("shfl.sync.bfly.b32 %r0, %t, 8, 31, 0xffffffff;\n", {8}));
}

TEST(Votes, AllAnyUniformBallot) {
  auto vote = [](const std::string &op, const std::string &condition) {
    return perThread("setp." + condition + ";\nvote.sync." + op +
                     ".pred %p2, %p1, 0xffffffff;\n"
                     "selp.u32 %r0, 1, 0, %p2;\n")[3];
  };
  EXPECT_EQ(vote("all", "lt.u32 %p1, %t, 32"), 1u);
  EXPECT_EQ(vote("all", "lt.u32 %p1, %t, 31"), 0u);
  EXPECT_EQ(vote("any", "gt.u32 %p1, %t, 30"), 1u);
  EXPECT_EQ(vote("any", "gt.u32 %p1, %t, 31"), 0u);
  EXPECT_EQ(vote("uni", "gt.u32 %p1, %t, 31"), 1u);
  EXPECT_EQ(vote("uni", "gt.u32 %p1, %t, 5"), 0u);
  EXPECT_EQ(perThread("setp.lt.u32 %p1, %t, 5;\nvote.sync.ballot.b32 %r0, !%p1, 0xffffffff;\n")[9],
            0xFFFFFFE0u);
  EXPECT_EQ(perThread("setp.lt.u32 %p1, %t, 5;\nmov.u32 %r0, 0;\n@%p1 activemask.b32 %r0;\n")[2],
            0x1Fu);
}

TEST(Votes, MatchAndReduce) {
  auto any = perThread("and.b32 %r1, %t, 3;\nmatch.any.sync.b32 %r0, %r1, 0xffffffff;\n");
  EXPECT_EQ(any[1], 0x22222222u);
  auto all = perThread("and.b32 %r1, %t, 32;\nmatch.all.sync.b32 %r0|%p1, %r1, 0xffffffff;\n");
  EXPECT_EQ(all[1], 0xFFFFFFFFu);
  EXPECT_EQ(perThread("match.all.sync.b32 %r0|%p1, %t, 0xffffffff;\n")[0], 0u);
  EXPECT_EQ(perThread("redux.sync.add.u32 %r0, %t, 0xffffffff;\n")[7], 496u);
  EXPECT_EQ(perThread("sub.s32 %r1, %t, 9;\nredux.sync.min.s32 %r0, %r1, 0xffffffff;\n")[7],
            uint32_t(-9));
  EXPECT_EQ(perThread("redux.sync.xor.b32 %r0, %t, 0xffffffff;\n")[7], 0u);
}

TEST(SpecialRegisters, InThreeDimensions) {
  auto got =
      perThread("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
                "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %ntid.y;\n"
                "mad.lo.u32 %r6, %r3, %r5, %r2;\nmad.lo.u32 %t, %r6, %r4, %r1;\n"
                "mov.u32 %r7, %warpid;\nmov.u32 %r8, %laneid;\nmad.lo.u32 %r0, %r7, 32, %r8;\n",
                {5, 4, 3});
  for (uint32_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], i);
  EXPECT_EQ(perThread("mov.u32 %r0, %lanemask_lt;\n")[5], 0x1Fu);
  EXPECT_EQ(perThread("mov.u32 %r0, %lanemask_ge;\n")[31], 0x80000000u);
}

TEST(Divergence, BranchesJoinAgain) {
  // Lanes loop a different number of times, and all meet at the shuffle.
  auto got =
      perThread("mov.u32 %r1, 0;\nmov.u32 %r2, %t;\nloop:\nadd.u32 %r1, %r1, %r2;\n"
                "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra out;\nsub.u32 %r2, %r2, 1;\nbra.uni loop;\n"
                "out:\nshfl.sync.down.b32 %r0, %r1, 1, 31, 0xffffffff;\n");
  for (uint32_t i = 0; i < 31; ++i)
    EXPECT_EQ(got[i], (i + 1) * (i + 2) / 2);
}

TEST(Divergence, NestedConditionsWithEarlyExit) {
  TestMemory memory;
  uint64_t out = memory.upload(std::vector<uint32_t>(64, 7));
  // Threads from 50 on leave; of the others, odd ones and multiples of four go other ways; the
  // barrier waits for those that remain.
  runBody(memory,
          "setp.ge.u32 %p1, %t, 50;\n@%p1 bra end;\nand.b32 %r1, %t, 1;\nsetp.ne.u32 %p2, %r1, 0;\n"
          "@%p2 bra odd;\nand.b32 %r1, %t, 3;\nsetp.ne.u32 %p3, %r1, 0;\nmov.u32 %r0, 4;\n"
          "@%p3 bra join;\nmov.u32 %r0, 5;\nbra.uni join;\nodd:\nmov.u32 %r0, 1;\njoin:\nbar.sync "
          "0;\n" +
              storeResult + "end:",
          {out}, {64});
  auto got = memory.download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], i >= 50 ? 7u : i % 2 ? 1u : i % 4 ? 4u : 5u) << i;
}

TEST(Divergence, JumpTables) {
  auto got =
      perThread("and.b32 %r1, %t, 3;\ntable: .branchtargets a, b, c, c;\nbrx.idx %r1, table;\n"
                "a:\nmov.u32 %r0, 10;\nbra.uni join;\nb:\nmov.u32 %r0, 11;\nbra.uni join;\n"
                "c:\nmov.u32 %r0, 12;\njoin:\nbar.warp.sync 0xffffffff;\n");
  EXPECT_EQ(std::vector<uint32_t>(got.begin(), got.begin() + 5),
            (std::vector<uint32_t>{10, 11, 12, 12, 10}));
  EXPECT_FAULT(IllegalInstruction,
               perThread("table: .branchtargets a;\nbrx.idx %t, table;\na:\nmov.u32 %r0, 1;\n"));
}

TEST(Barriers, ReductionsAndNamedBarriers) {
  EXPECT_EQ(
      perThread("setp.lt.u32 %p1, %t, 40;\nbarrier.red.popc.aligned.u32 %r0, 0, %p1;\n", {64})[60],
      40u);
  EXPECT_EQ(
      perThread(
          "setp.lt.u32 %p1, %t, 40;\nbar.red.and.pred %p2, 1, %p1;\nselp.u32 %r0, 1, 0, %p2;\n",
          {64})[0],
      0u);
  EXPECT_EQ(
      perThread(
          "setp.lt.u32 %p1, %t, 40;\nbar.red.or.pred %p2, 1, !%p1;\nselp.u32 %r0, 1, 0, %p2;\n",
          {64})[0],
      1u);
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
  auto got = perThread(
      "shr.u32 %r1, %t, 6;\nadd.u32 %r1, %r1, 1;\nbar.sync %r1, 64;\nmov.u32 %r0, %r1;\n", {128});
  EXPECT_EQ(got[63], 1u);
  EXPECT_EQ(got[64], 2u);
}

TEST(Atomics, OfAllKinds) {
  auto atomic = [](const std::string &op, uint64_t start, const std::string &type,
                   const std::string &value) {
    TestMemory memory;
    uint64_t place = memory.upload(std::vector<uint64_t>{start});
    std::string d = type.ends_with("64") ? "%d1" : type.ends_with("16") ? "%h1" : "%r1";
    runBody(memory,
            "cvt.u64.u32 %d2, %t;\nadd.u64 %d2, %d2, 1;\nadd.u32 %r2, %t, 1;\nmov.u32 %r3, 0;\n"
            "cvt.rn.f32.u32 %r4, %r2;\ncvt.rn.f64.u32 %d4, %r2;\n"
            "atom.global." +
                op + "." + type + " " + d + ", [%a0], " + value + ";\n",
            {place});
    return memory.download<uint64_t>(place, 1)[0];
  };
  EXPECT_EQ(atomic("add", 1000, "u32", "%r2"), 1528u); // 1 + … + 32 = 528
  EXPECT_EQ(atomic("add", 1ull << 40, "u64", "%d2"), (1ull << 40) + 528);
  EXPECT_EQ(atomic("add", 0, "f32", "%r4"), std::bit_cast<uint32_t>(528.0f));
  EXPECT_EQ(atomic("add", 0, "f64", "%d4"), std::bit_cast<uint64_t>(528.0));
  EXPECT_EQ(atomic("min", 9, "s32", "-3"), uint64_t(uint32_t(-3)));
  EXPECT_EQ(atomic("min", 9, "u32", "%r2"), 1u);
  EXPECT_EQ(atomic("max", 9, "u64", "%d2"), 32u);
  EXPECT_EQ(atomic("and", 0xFF, "b32", "0x3C"), 0x3Cu);
  EXPECT_EQ(atomic("or", 1, "b32", "%r2"), 63u);
  EXPECT_EQ(atomic("xor", 0, "b32", "%r2"), 32u);
  EXPECT_EQ(atomic("exch", 5, "b64", "77"), 77u);
  EXPECT_EQ(atomic("cas", 5, "b32", "5, 8"), 8u);
  EXPECT_EQ(atomic("cas", 6, "b32", "5, 8"), 6u);
  EXPECT_EQ(atomic("inc", 0, "u32", "9"), 2u); // 32 steps through 0 … 9
  EXPECT_EQ(atomic("dec", 0, "u32", "9"), 8u); // 32 steps down
}

TEST(Atomics, ReturnTheOldValueAndWorkInSharedMemory) {
  auto got = perThread(".shared .align 4 .u32 counter;\nsetp.eq.u32 %p1, %t, 0;\n"
                       "@%p1 st.shared.u32 [counter], 100;\nbar.sync 0;\n"
                       "atom.shared.add.u32 %r0, [counter], 1;\n",
                       {64});
  std::sort(got.begin(), got.end());
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], 100 + i);
  TestMemory memory;
  uint64_t place = memory.upload(std::vector<float>{1.0f});
  runBody(memory, "red.global.add.f32 [%a0], 0f3F000000;\n", {place});
  EXPECT_EQ(memory.download<float>(place, 1)[0], 17.0f);
}

} // namespace
