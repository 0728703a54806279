// Every check of the interpreter: a kernel in which it fires, and its neighbour in which it does
// not.
#include "test/emulator/ptx/TestKernel.h"

using namespace gc::emulator::ptx;

namespace {

const std::string own = "mul.wide.u32 %d0, %t, 4;\nadd.u64 %d1, %d0, %a0;\n";

TEST(GlobalChecks, Bounds) {
  TestMemory memory;
  uint64_t data = memory.upload(std::vector<uint32_t>(32, 1));
  EXPECT_NO_THROW(runBody(memory, own + "ld.global.u32 %r0, [%d1];", {data}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, own + "ld.global.u32 %r0, [%d1+4];", {data}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, own + "ld.global.u32 %r0, [%d1+-4];", {data}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, own + "st.global.u32 [%d1+4], %t;", {data}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, "ld.global.u32 %r0, [%a0];", {0}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, "ld.u32 %r0, [%a0];", {16}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, "atom.global.add.u32 %r0, [%a0+128], 1;", {data}));
}

TEST(GlobalChecks, TheMessageNamesThePlace) {
  TestMemory memory;
  uint64_t data = memory.upload(std::vector<uint32_t>(40, 1));
  try {
    runBody(memory,
            "mov.u32 %r1, %warpid;\nmov.u32 %r2, %laneid;\nmad.lo.u32 %t, %r1, 32, %r2;\n" + own +
                "ld.global.u32 %r0, [%d1];",
            {data}, {8, 4, 2});
    FAIL();
  } catch (const Fault &fault) {
    std::string what = fault.what(); // thread 40 of 8 × 4 × 2 is (0, 1, 1)
    for (const char *part : {"kernel 'test'", "line 23: 'ld.global.u32 %r0, [%d1];'",
                             "block (0, 0, 0)", "thread (0, 1, 1)"})
      EXPECT_NE(what.find(part), what.npos) << what;
  }
}

TEST(GlobalChecks, Alignment) {
  TestMemory memory;
  uint64_t data = memory.upload(std::vector<uint32_t>(64, 1));
  EXPECT_FAULT(Misaligned, runBody(memory, own + "ld.global.u32 %r0, [%d1+2];", {data}));
  EXPECT_FAULT(Misaligned,
               runBody(memory, "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a0+8];", {data}));
  EXPECT_NO_THROW(runBody(memory, "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a0+16];", {data}));
  EXPECT_NO_THROW(runBody(memory, "ld.global.u16 %h0, [%a0+2];", {data}));
}

TEST(GlobalChecks, InitialisationAndLife) {
  TestMemory memory;
  uint64_t fresh = memory.allocate(128, 256);
  EXPECT_FAULT(Uninitialised, runBody(memory, own + "ld.global.u32 %r0, [%d1];", {fresh}));
  EXPECT_FAULT(Uninitialised, runBody(memory, own + "red.global.add.u32 [%d1], 1;", {fresh}));
  EXPECT_NO_THROW(
      runBody(memory, own + "st.global.u32 [%d1], %t;\nld.global.u32 %r0, [%d1];", {fresh}));
  memory.free(fresh);
  EXPECT_FAULT(UseAfterFree, runBody(memory, own + "ld.global.u32 %r0, [%d1];", {fresh}));
}

TEST(RegisterChecks, Uninitialised) {
  TestMemory memory;
  EXPECT_FAULT(Uninitialised, runBody(memory, "add.u32 %r0, %r1, 1;", {}));
  EXPECT_FAULT(Uninitialised, runBody(memory, "@%p1 add.u32 %r0, %t, 1;", {}));
  EXPECT_NO_THROW(runBody(memory, "mov.u32 %r1, 2;\nadd.u32 %r0, %r1, 1;", {}));
  // Written in some lanes, read in others.
  std::string some = "setp.lt.u32 %p1, %t, 9;\n@%p1 mov.u32 %r1, 1;\n";
  EXPECT_FAULT(Uninitialised, runBody(memory, some + "add.u32 %r0, %r1, 1;", {}));
  EXPECT_NO_THROW(runBody(memory, some + "@%p1 add.u32 %r0, %r1, 1;", {}));
  // A copy of something undefined is harmless; its use is not.
  EXPECT_NO_THROW(runBody(memory, "mov.u32 %r2, %r1;", {}));
  EXPECT_FAULT(Uninitialised, runBody(memory, "mov.u32 %r2, %r1;\nadd.u32 %r0, %r2, 1;", {}));
}

const std::string tile = ".shared .align 16 .b8 tile[256];\nmul.wide.u32 %d0, %t, 4;\n"
                         "mov.u64 %d1, tile;\nadd.u64 %d2, %d1, %d0;\n";

TEST(SharedChecks, BoundsAndInitialisation) {
  TestMemory memory;
  EXPECT_NO_THROW(runBody(memory, tile + "st.shared.u32 [%d2], %t;", {}, {64}));
  EXPECT_FAULT(SharedBounds, runBody(memory, tile + "st.shared.u32 [%d2], %t;", {}, {65}));
  EXPECT_FAULT(Misaligned, runBody(memory, tile + "st.shared.u32 [%d2+1], %t;", {}));
  EXPECT_FAULT(Uninitialised, runBody(memory, tile + "ld.shared.u32 %r0, [%d2];", {}));
  EXPECT_FAULT(Uninitialised,
               runBody(memory, tile + "st.shared.u16 [%d2], %h1;\n", {})); // register
  EXPECT_FAULT(Uninitialised, runBody(memory,
                                      tile + "mov.u16 %h1, 1;\nst.shared.u16 [%d2], %h1;\n"
                                             "ld.shared.u32 %r0, [%d2];",
                                      {}));
  EXPECT_NO_THROW(runBody(memory,
                          tile + "mov.u16 %h1, 1;\nst.shared.u16 [%d2], %h1;\n"
                                 "st.shared.u16 [%d2+2], %h1;\nld.shared.u32 %r0, [%d2];",
                          {}));
}

TEST(SharedChecks, DynamicMemoryFollowsTheStatic) {
  TestMemory memory;
  std::string dynamic = ".extern .shared .align 4 .b8 buffer[];";
  std::string body = tile +
                     "mov.u64 %d3, buffer;\nadd.u64 %d4, %d3, %d0;\nst.shared.u32 [%d4], %t;\n"
                     "st.shared.u32 [%d2], %t;\n"; // no overlap: no race
  EXPECT_NO_THROW(runBody(memory, body, {}, {32}, 128, nullptr, dynamic));
  EXPECT_FAULT(SharedBounds, runBody(memory, body, {}, {32}, 124, nullptr, dynamic));
}

/// Each thread writes its word, then reads its neighbour's.
std::string exchange(const std::string &between) {
  return tile + "st.shared.u32 [%d2], %t;\n" + between +
         "xor.b32 %r1, %t, 1;\nmul.wide.u32 %d3, %r1, 4;\nadd.u64 %d3, %d3, %d1;\n"
         "ld.shared.u32 %r0, [%d3];\n";
}

TEST(SharedChecks, RaceBetweenWriteAndRead) {
  TestMemory memory;
  EXPECT_FAULT(SharedRace, runBody(memory, exchange(""), {}));
  EXPECT_NO_THROW(runBody(memory, exchange("bar.sync 0;\n"), {}));
  EXPECT_NO_THROW(runBody(memory, exchange("bar.warp.sync 0xffffffff;\n"), {}));
  EXPECT_NO_THROW(runBody(memory, exchange("shfl.sync.bfly.b32 %r5, %t, 1, 31, -1;\n"), {}));
}

TEST(SharedChecks, AWarpsSynchronisationOrdersNoOtherWarp) {
  TestMemory memory;
  auto acrossWarps = [](const std::string &between) {
    return tile + "st.shared.u32 [%d2], %t;\n" + between +
           "xor.b32 %r1, %t, 32;\nmul.wide.u32 %d3, %r1, 4;\nadd.u64 %d3, %d3, %d1;\n"
           "ld.shared.u32 %r0, [%d3];\n";
  };
  EXPECT_NO_THROW(runBody(memory, acrossWarps("bar.sync 0;\n"), {}, {64}));
  // The first warp to run reads what the other has not yet written: either finding is right.
  EXPECT_THROW(runBody(memory, acrossWarps("bar.warp.sync 0xffffffff;\n"), {}, {64}), Fault);
}

TEST(SharedChecks, RaceBetweenReadAndLaterWrite) {
  TestMemory memory;
  // After the exchange, the thread overwrites its word, which its neighbour has just read.
  EXPECT_FAULT(SharedRace,
               runBody(memory, exchange("bar.sync 0;\n") + "st.shared.u32 [%d2], %t;\n", {}));
  EXPECT_NO_THROW(
      runBody(memory, exchange("bar.sync 0;\n") + "bar.sync 0;\nst.shared.u32 [%d2], %t;\n", {}));
  // A word that everybody reads.
  std::string broadcast = tile +
                          "setp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [tile], 1;\nbar.sync 0;\n"
                          "ld.shared.u32 %r0, [tile];\n";
  EXPECT_NO_THROW(runBody(memory, broadcast, {}, {64}));
  EXPECT_FAULT(SharedRace,
               runBody(memory, broadcast + "@%p1 st.shared.u32 [tile], 2;\n", {}, {64}));
  EXPECT_NO_THROW(
      runBody(memory, broadcast + "bar.sync 0;\n@%p1 st.shared.u32 [tile], 2;\n", {}, {64}));
}

TEST(SharedChecks, RaceBetweenWrites) {
  TestMemory memory;
  EXPECT_FAULT(SharedRace, runBody(memory, tile + "st.shared.u32 [tile], %t;\n", {}));
  EXPECT_NO_THROW(
      runBody(memory, tile + "setp.eq.u32 %p1, %t, 3;\n@%p1 st.shared.u32 [tile], %t;\n", {}));
  std::string one =
      tile + "setp.eq.u32 %p1, %t, 3;\nsetp.eq.u32 %p2, %t, 40;\n@%p1 st.shared.u32 [tile], 1;\n";
  EXPECT_FAULT(SharedRace, runBody(memory, one + "@%p2 st.shared.u32 [tile], 2;\n", {}, {64}));
  EXPECT_NO_THROW(runBody(memory, one + "bar.sync 0;\n@%p2 st.shared.u32 [tile], 2;\n", {}, {64}));
  // Halves of one word are different bytes.
  EXPECT_NO_THROW(runBody(memory,
                          tile + "mov.u16 %h1, 1;\nshr.u64 %d0, %d0, 1;\nadd.u64 %d2, %d1, %d0;\n"
                                 "st.shared.u16 [%d2], %h1;\n",
                          {}));
}

TEST(SharedChecks, AtomicsRaceOnlyWithOthers) {
  TestMemory memory;
  std::string start = tile + "setp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [tile], 0;\nbar.sync 0;\n"
                             "atom.shared.add.u32 %r0, [tile], 1;\n";
  EXPECT_NO_THROW(runBody(memory, start, {}, {64}));
  EXPECT_FAULT(SharedRace, runBody(memory, start + "ld.shared.u32 %r1, [tile];\n", {}, {64}));
  EXPECT_NO_THROW(runBody(memory, start + "ld.volatile.shared.u32 %r1, [tile];\n", {}, {64}));
  EXPECT_NO_THROW(runBody(memory, start + "bar.sync 0;\nld.shared.u32 %r1, [tile];\n", {}, {64}));
}

TEST(SharedChecks, NamedBarriersOrderTheirWarpsOnly) {
  TestMemory memory;
  // Warp 0 writes, warp 1 reads, with a barrier of these two; then of warps 0 and 2 only.
  auto between = [](const std::string &condition) {
    return tile +
           "mov.u32 %r1, %warpid;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 1;\n"
           "@%p1 st.shared.u32 [%d2], %t;\n" +
           condition + "@%p3 bar.sync 1, 64;\n@%p2 ld.shared.u32 %r0, [%d2-128];\n";
  };
  EXPECT_NO_THROW(runBody(memory, between("setp.lt.u32 %p3, %r1, 2;\n"), {}, {96}));
  EXPECT_FAULT(SharedRace, runBody(memory, between("setp.ne.u32 %p3, %r1, 1;\n"), {}, {96}));
}

TEST(SharedChecks, ArrivingOrdersWhatWasDoneBefore) {
  TestMemory memory;
  // Warp 0 writes and arrives without waiting; warp 1 waits, then reads.
  auto produce = [](const std::string &early, const std::string &late) {
    return tile +
           "mov.u32 %r1, %warpid;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra produce;\nbar.sync 1, 64;\n"
           "ld.shared.u32 %r0, [%d2-128];\nbra.uni end;\nproduce:\n" +
           early + "bar.arrive 1, 64;\n" + late + "end:\nmov.u32 %r2, 0;\n";
  };
  EXPECT_NO_THROW(runBody(memory, produce("st.shared.u32 [%d2], %t;\n", ""), {}, {64}));
  EXPECT_FAULT(SharedRace,
               runBody(memory, produce("st.shared.u32 [%d2], %t;\n", "st.shared.u32 [%d2], 1;\n"),
                       {}, {64}));
}

TEST(SharedChecks, GenericAddressesAreChecked) {
  TestMemory memory;
  std::string generic = tile + "cvta.shared.u64 %d5, %d2;\nst.u32 [%d5], %t;\n";
  EXPECT_NO_THROW(runBody(memory,
                          generic + "ld.u32 %r0, [%d5];\nisspacep.shared %p1, %d5;\n@!%p1 trap;\n"
                                    "cvta.to.shared.u64 %d6, %d5;\nld.shared.u32 %r1, [%d6];\n",
                          {}, {64}));
  EXPECT_FAULT(SharedBounds, runBody(memory, generic, {}, {65}));
}

TEST(LocalChecks, BoundsAndInitialisation) {
  TestMemory memory;
  std::string local = ".local .align 8 .b8 stack[16];\nmov.u64 %d1, stack;\n";
  EXPECT_NO_THROW(
      runBody(memory, local + "st.local.u64 [%d1+8], %d1;\nld.local.u64 %d2, [stack+8];\n", {}));
  EXPECT_FAULT(IllegalAddress, runBody(memory, local + "st.local.u64 [%d1+16], %d1;\n", {}));
  EXPECT_FAULT(Uninitialised,
               runBody(memory, local + "st.local.u32 [%d1], %t;\nld.local.u64 %d2, [%d1];\n", {}));
  EXPECT_NO_THROW(runBody(
      memory, local + "cvta.local.u64 %d3, %d1;\nst.u64 [%d3], %d1;\nld.local.u64 %d2, [%d1];\n",
      {}));
}

TEST(BarrierChecks, Divergence) {
  TestMemory memory;
  std::string half = "setp.lt.u32 %p1, %t, 16;\n";
  EXPECT_FAULT(DivergentBarrier,
               runBody(memory, half + "@%p1 bra skip;\nbar.sync 0;\nskip:\nmov.u32 %r0, 1;", {}));
  EXPECT_FAULT(DivergentBarrier, runBody(memory, half + "@%p1 bar.sync 0;", {}));
  // Threads that have exited are not waited for, neither lanes nor whole warps.
  EXPECT_NO_THROW(runBody(memory, half + "@%p1 ret;\nbar.sync 0;", {}, {64}));
  EXPECT_NO_THROW(runBody(
      memory, "setp.lt.u32 %p1, %t, 32;\n@%p1 bra skip;\nbar.sync 0;\nskip:\nret;", {}, {64}));
  // A warp that goes round another barrier: nobody ever comes.
  std::string two = "setp.lt.u32 %p1, %t, 32;\n@%p1 bra other;\nbar.sync 0;\nbra.uni skip;\n";
  EXPECT_FAULT(DivergentBarrier,
               runBody(memory, two + "other:\nbar.sync 1;\nskip:\nmov.u32 %r0, 1;", {}, {64}));
  EXPECT_NO_THROW(runBody(memory, two + "other:\nbar.sync 0;\nskip:\nmov.u32 %r0, 1;", {}, {64}));
  EXPECT_FAULT(IllegalInstruction, runBody(memory, "bar.sync 16;", {}));
  EXPECT_FAULT(IllegalInstruction, runBody(memory, "bar.sync 0, 33;", {}, {64}));
}

TEST(LaunchChecks, Limits) {
  TestMemory memory;
  EXPECT_FAULT(BadLaunch, runBody(memory, "", {}, {1025}));
  EXPECT_FAULT(BadLaunch, runBody(memory, "", {}, {32, 0}));
  EXPECT_FAULT(BadLaunch, runBody(memory, tile, {}, {32}, 48 * 1024));
  EXPECT_NO_THROW(runBody(memory, tile, {}, {32}, 48 * 1024 - 256));
  EXPECT_NO_THROW(
      runBody(memory, tile, {}, {32}, 48 * 1024, nullptr, "", {.sharedBytesPerBlock = 64 * 1024}));
  EXPECT_FAULT(BadLaunch, runBody(memory, "", {}, {128}, 0, nullptr, "", {.threadsPerBlock = 64}));
  auto launch = [&](const std::string &bounds, Dim3 block) {
    auto module = Module::parse(header() + ".visible .entry k() " + bounds + " { ret; }", memory);
    run(*module, "k", {.block = block}, memory);
  };
  EXPECT_NO_THROW(launch(".maxntid 64, 2, 1", {128}));
  EXPECT_FAULT(BadLaunch, launch(".maxntid 64, 2", {129}));
  EXPECT_NO_THROW(launch(".reqntid 64", {64}));
  EXPECT_FAULT(BadLaunch, launch(".reqntid 64", {32}));
  EXPECT_FAULT(BadLaunch, launch(".reqntid 8, 8", {64}));
  auto module = Module::parse(kernelText("", 2), memory);
  EXPECT_FAULT(BadLaunch, run(*module, "test", {.parameters = {}}, memory));
  EXPECT_FAULT(BadLaunch, run(*module, "absent", {}, memory));
}

TEST(LaunchChecks, TrapsAndEndlessLoops) {
  TestMemory memory;
  EXPECT_FAULT(Trap, runBody(memory, "setp.eq.u32 %p1, %t, 7;\n@%p1 trap;", {}));
  EXPECT_NO_THROW(runBody(memory, "setp.eq.u32 %p1, %t, 70;\n@%p1 trap;", {}));
  EXPECT_FAULT(InstructionBudget, runBody(memory, "again:\nbra again;", {}, {32}, 0, nullptr, "",
                                          {.warpInstructions = 100000}));
  EXPECT_NO_THROW(
      runBody(memory,
              "mov.u32 %r1, 1000;\nagain:\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "@%p1 bra again;",
              {}, {32}, 0, nullptr, "", {.warpInstructions = 100000}));
}

TEST(Statistics, SectorsAndBankConflicts) {
  TestMemory memory;
  uint64_t data = memory.upload(std::vector<uint32_t>(1024, 1));
  auto count = [&](const std::string &body) {
    Statistics statistics;
    runBody(memory, tile + body, {data}, {32}, 0, &statistics);
    return statistics;
  };
  EXPECT_EQ(count("add.u64 %d5, %a0, %d0;\nld.global.u32 %r0, [%d5];").globalTransactions, 4u);
  EXPECT_EQ(count("mad.wide.u32 %d5, %t, 32, %a0;\nld.global.u32 %r0, [%d5];").globalTransactions,
            32u);
  EXPECT_EQ(count("ld.global.u32 %r0, [%a0];").globalTransactions, 1u);
  EXPECT_EQ(count("st.shared.u32 [%d2], %t;").sharedBankConflicts, 0u);
  // Two words of one bank: a wavefront more. Vectors go in quarters of the warp: none.
  EXPECT_EQ(count("and.b32 %r1, %t, 1;\nmul.wide.u32 %d5, %r1, 128;\nadd.u64 %d5, %d5, %d1;\n"
                  "setp.lt.u32 %p1, %t, 2;\n@%p1 st.shared.u32 [%d5], %t;")
                .sharedBankConflicts,
            1u);
  EXPECT_EQ(count("mul.wide.u32 %d5, %t, 16;\nadd.u64 %d5, %d5, %d1;\nsetp.lt.u32 %p1, %t, 16;\n"
                  "@%p1 st.shared.v4.u32 [%d5], {%t, %t, %t, %t};")
                .sharedBankConflicts,
            0u);
}

} // namespace
