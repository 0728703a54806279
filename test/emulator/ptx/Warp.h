//===- Warp.h - 32 threads in lockstep, and their block --------------------===//
#pragma once

#include "test/emulator/ptx/Memories.h"

#include <bit>

namespace gc::emulator::ptx {

/// Calls `f(lane)` for the lanes of a mask.
template <class F> inline void forLanes(uint32_t mask, F &&f) {
  if (mask == ~0u) {
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      f(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    f(static_cast<uint32_t>(std::countr_zero(mask)));
}

struct LaunchState {
  const Program &program;
  const Kernel &kernel;
  const Launch &launch;
  GlobalMemory &memory;
  Statistics *statistics;
  uint64_t warpInstructions = 0;
  uint64_t laneInstructions = 0;
};

class Warp {
public:
  Warp(LaunchState &launch, SharedMemory &shared, uint32_t index);

  enum class State { Ready, Waiting, Done };
  /// Executes until the warp waits, ends or has used its slice. Throws LaneFault.
  State step(uint32_t slice);
  void startBlock(Dim3 block);
  /// Threads that have not exited.
  uint32_t alive() const { return alive_; }

  template <class T> T *row(Operand operand) {
    return reinterpret_cast<T *>(registers + operand.offset);
  }
  uint32_t &predicate(Operand operand) { return *row<uint32_t>(operand); }
  /// Source `i` of an instruction, a predicate, its negation applied.
  uint32_t predicateSource(const Instruction &instruction, uint32_t i) {
    uint32_t bits = predicate(instruction.operands[instruction.destinations + i]);
    return instruction.negatedSources >> i & 1 ? ~bits : bits;
  }

  /// The barrier instruction that made step() return Waiting, its operands read.
  struct Wait {
    BarrierKind kind = BarrierKind::Sync;
    uint32_t barrier = 0, threads = 0; ///< threads: 0 for all of the block
    uint32_t votes = 0;                ///< lanes whose predicate is true, of barrier.red
    Operand result;
  } wait;
  /// Writes what barrier.red gives.
  void finishReduction(uint32_t value);

  uint32_t line() const { return launch.kernel.code[currentPc].line; }

  LaunchState &launch;
  SharedMemory &shared;
  LocalMemory local;
  const uint32_t index; ///< within the block
  uint32_t threads = 0; ///< lanes that exist at all
  Dim3 blockIndex;
  uint32_t *defined = nullptr;

private:
  struct Entry {
    uint32_t pc, reconverge, mask;
  };
  void branch(const Instruction &instruction, uint32_t taken, uint32_t mask);
  void indirectBranch(const Instruction &instruction, uint32_t mask);
  void exitLanes(uint32_t mask);
  void reachBarrier(const Instruction &instruction, uint32_t mask);
  [[noreturn]] void undefined(const Instruction &instruction, uint32_t mask);

  std::vector<Entry> stack;
  uint32_t alive_ = 0;
  uint32_t currentPc = 0;
  std::byte *registers = nullptr;
  std::vector<std::byte> registerStorage;
  std::vector<uint32_t> definedStorage;
};

} // namespace gc::emulator::ptx
