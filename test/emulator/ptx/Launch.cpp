// Blocks one after another; the warps of a block in turn, each until it waits or has used its
// slice.
#include "test/emulator/ptx/Warp.h"

#include <algorithm>

using namespace gc::emulator::ptx;

namespace {

/// Long enough to keep a warp's registers in the cache, short enough for warps that wait for each
/// other in loops.
constexpr uint32_t sliceInstructions = 4096;

std::string triple(Dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

class Block {
public:
  Block(LaunchState &state, uint32_t warpCount)
      : state(state), shared(state.kernel.info.staticSharedBytes + state.launch.dynamicSharedBytes,
                             state.kernel.sharedGranule, warpCount) {
    warps.reserve(warpCount);
    for (uint32_t i = 0; i < warpCount; ++i)
      warps.emplace_back(state, shared, i);
    states.resize(warpCount);
    for (Barrier &each : barriers)
      each.times.resize(warpCount);
  }

  void run(Dim3 index) {
    shared.reset();
    for (Warp &each : warps)
      each.startBlock(index);
    std::fill(states.begin(), states.end(), Warp::State::Ready);
    for (Barrier &each : barriers)
      each.arrived = each.waiting = each.votes = each.voters = 0;
    for (bool progress = true; progress;) {
      progress = false;
      for (Warp &each : warps)
        if (states[each.index] == Warp::State::Ready) {
          step(each);
          progress = true;
        }
    }
    for (Warp &each : warps)
      if (states[each.index] == Warp::State::Waiting)
        deadlock(each);
  }

private:
  struct Barrier {
    uint32_t arrived = 0, waiting = 0; ///< masks of warps
    uint32_t threads = 0;              ///< expected; 0: all that have not exited
    uint32_t votes = 0, voters = 0;    ///< of barrier.red
    std::vector<uint32_t> times;       ///< when each warp arrived
  };

  void step(Warp &warp) {
    try {
      states[warp.index] = warp.step(sliceInstructions);
      if (states[warp.index] == Warp::State::Waiting)
        arrive(warp);
    } catch (const LaneFault &fault) {
      report(fault, warp);
    }
    if (states[warp.index] == Warp::State::Done)
      for (Barrier &each : barriers)
        releaseIfComplete(each);
    if (state.warpInstructions > state.launch.limits.warpInstructions)
      report({Fault::Kind::InstructionBudget, 0,
              "the launch has executed its budget of " +
                  std::to_string(state.launch.limits.warpInstructions) +
                  " warp instructions: an endless loop?"},
             warp);
  }

  void arrive(Warp &warp) {
    if (state.statistics)
      ++state.statistics->barriers;
    const Warp::Wait &wait = warp.wait;
    Barrier &barrier = barriers[wait.barrier];
    uint32_t bit = 1u << warp.index;
    if (barrier.arrived && barrier.threads != wait.threads)
      throw LaneFault{Fault::Kind::DivergentBarrier, 0,
                      "threads wait at barrier " + std::to_string(wait.barrier) +
                          " with different thread counts"};
    if (barrier.arrived & bit)
      throw LaneFault{Fault::Kind::DivergentBarrier, 0,
                      "this warp arrives at barrier " + std::to_string(wait.barrier) +
                          " twice before it opens"};
    barrier.threads = wait.threads;
    barrier.arrived |= bit;
    barrier.times[warp.index] = shared.arrive();
    barrier.votes += std::popcount(wait.votes);
    barrier.voters += std::popcount(warp.alive());
    if (wait.kind == BarrierKind::Arrive)
      states[warp.index] = Warp::State::Ready;
    else
      barrier.waiting |= bit;
    releaseIfComplete(barrier);
  }

  void releaseIfComplete(Barrier &barrier) {
    if (!barrier.arrived)
      return;
    if (barrier.threads) {
      if (std::popcount(barrier.arrived) * warpSize < barrier.threads)
        return;
    } else {
      for (Warp &each : warps)
        if (states[each.index] != Warp::State::Done && !(barrier.arrived >> each.index & 1))
          return;
    }
    shared.synchronise(barrier.arrived, barrier.waiting, barrier.times);
    forLanes(barrier.waiting, [&](uint32_t i) {
      states[i] = Warp::State::Ready;
      BarrierKind kind = warps[i].wait.kind;
      warps[i].finishReduction(kind == BarrierKind::And  ? barrier.votes == barrier.voters
                               : kind == BarrierKind::Or ? barrier.votes != 0
                                                         : barrier.votes);
    });
    barrier.arrived = barrier.waiting = barrier.votes = barrier.voters = 0;
  }

  [[noreturn]] void deadlock(Warp &first) {
    std::string message = "divergent barrier: threads wait for others that never come;";
    for (Warp &each : warps)
      if (states[each.index] == Warp::State::Waiting)
        message += " warp " + std::to_string(each.index) + " at barrier " +
                   std::to_string(each.wait.barrier) + " in line " + std::to_string(each.line()) +
                   ",";
    message.back() = ' ';
    report({Fault::Kind::DivergentBarrier, static_cast<uint32_t>(std::countr_zero(first.alive())),
            message + "the rest has exited"},
           first);
  }

  [[noreturn]] void report(const LaneFault &fault, Warp &warp) {
    Dim3 size = state.launch.block;
    uint32_t thread = warp.index * warpSize + fault.lane, line = warp.line();
    std::string text =
        line && line <= state.program.lines.size() ? state.program.lines[line - 1] : "";
    size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\r");
    text = begin == text.npos ? "" : text.substr(begin, end + 1 - begin);
    std::replace(text.begin(), text.end(), '\t', ' ');
    Dim3 where{thread % size.x, thread / size.x % size.y, thread / (size.x * size.y)};
    throw Fault(fault.kind, fault.message + "; kernel '" + state.kernel.info.name + "', line " +
                                std::to_string(line) + ": '" + text + "', block " +
                                triple(warp.blockIndex) + ", thread " + triple(where));
  }

  LaunchState &state;
  SharedMemory shared;
  std::vector<Warp> warps;
  std::vector<Warp::State> states;
  Barrier barriers[16];
};

void checkLaunch(const KernelInfo &kernel, const Launch &launch) {
  auto fail = [&](const std::string &what) {
    throw Fault(Fault::Kind::BadLaunch, "launch of '" + kernel.name + "': " + what);
  };
  auto tooLarge = [](Dim3 d, uint64_t x, uint64_t yz) {
    return !d.x || !d.y || !d.z || d.x > x || d.y > yz || d.z > yz;
  };
  const Dim3 &block = launch.block;
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (tooLarge(launch.grid, INT32_MAX, 65535))
    fail("a grid of " + triple(launch.grid) + " blocks is not allowed");
  uint32_t limit = std::min(launch.limits.threadsPerBlock, 1024u);
  if (tooLarge(block, 1024, 1024) || block.z > 64 || threads > limit)
    fail("a block of " + triple(block) + " threads; the limit is " + std::to_string(limit));
  if (kernel.maxThreads && threads > kernel.maxThreads)
    fail(std::to_string(threads) + " threads in a block, but the kernel was compiled for " +
         std::to_string(kernel.maxThreads) + " at most");
  const uint32_t *required = kernel.requiredThreads;
  if (required[0] && (required[0] != block.x || required[1] != block.y || required[2] != block.z))
    fail("a block of " + triple(block) + " threads, but the kernel requires " +
         triple({required[0], required[1], required[2]}));
  uint64_t shared = uint64_t(kernel.staticSharedBytes) + launch.dynamicSharedBytes;
  if (shared > launch.limits.sharedBytesPerBlock)
    fail(std::to_string(shared) + " bytes of shared memory; the limit is " +
         std::to_string(launch.limits.sharedBytesPerBlock));
  if (launch.parameters.size() < kernel.parameterBytes)
    fail(std::to_string(launch.parameters.size()) + " bytes of parameters, the kernel has " +
         std::to_string(kernel.parameterBytes));
}

} // namespace

void gc::emulator::ptx::run(const Module &module, const std::string &name, const Launch &launch,
                            GlobalMemory &memory, Statistics *statistics) {
  const Program &program = module.program();
  auto found = program.kernels.find(name);
  if (found == program.kernels.end())
    throw Fault(Fault::Kind::BadLaunch, "the module has no kernel '" + name + "'");
  checkLaunch(found->second.info, launch);
  LaunchState state{program, found->second, launch, memory, statistics};
  Dim3 size = launch.block;
  Block block(state, (size.x * size.y * size.z + warpSize - 1) / warpSize);
  Dim3 index;
  for (index.z = 0; index.z < launch.grid.z; ++index.z)
    for (index.y = 0; index.y < launch.grid.y; ++index.y)
      for (index.x = 0; index.x < launch.grid.x; ++index.x)
        block.run(index);
  if (statistics) {
    statistics->instructions += state.laneInstructions;
    statistics->warpInstructions += state.warpInstructions;
  }
}
