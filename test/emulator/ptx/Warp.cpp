#include "test/emulator/ptx/Warp.h"

#include <algorithm>
#include <cstring>

using namespace gc::emulator::ptx;

static constexpr size_t rowAlignment = 64;

Warp::Warp(LaunchState &launch, SharedMemory &shared, uint32_t index)
    : launch(launch), shared(shared), index(index),
      registerStorage(launch.kernel.registerFileBytes + rowAlignment),
      definedStorage(launch.kernel.registerCount) {
  auto address = reinterpret_cast<uintptr_t>(registerStorage.data());
  registers = registerStorage.data() + (rowAlignment - address % rowAlignment) % rowAlignment;
  defined = definedStorage.data();
  local.resize(launch.kernel.info.localBytes);

  Dim3 block = launch.launch.block;
  uint32_t total = block.x * block.y * block.z;
  uint32_t count = std::min(total - index * warpSize, warpSize);
  threads = count == warpSize ? ~0u : (1u << count) - 1;
  for (const Kernel::Constant &each : launch.kernel.constants)
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      std::memcpy(registers + each.offset + lane * each.bytes, &each.bits, each.bytes);
}

void Warp::startBlock(Dim3 block) {
  blockIndex = block;
  alive_ = threads;
  stack.assign(1, {0, static_cast<uint32_t>(launch.kernel.code.size()), threads});
  std::fill(definedStorage.begin(), definedStorage.end(), 0);
  defined[0] = ~0u;
  local.reset();
  Dim3 size = launch.launch.block, grid = launch.launch.grid;
  uint32_t dynamic = launch.launch.dynamicSharedBytes;
  for (const Kernel::SpecialRow &each : launch.kernel.specials)
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      uint32_t thread = index * warpSize + lane;
      uint64_t value = 0;
      switch (each.special) {
      case Special::TidX:
        value = thread % size.x;
        break;
      case Special::TidY:
        value = thread / size.x % size.y;
        break;
      case Special::TidZ:
        value = thread / (size.x * size.y);
        break;
      case Special::NtidX:
        value = size.x;
        break;
      case Special::NtidY:
        value = size.y;
        break;
      case Special::NtidZ:
        value = size.z;
        break;
      case Special::CtaidX:
        value = block.x;
        break;
      case Special::CtaidY:
        value = block.y;
        break;
      case Special::CtaidZ:
        value = block.z;
        break;
      case Special::NctaidX:
        value = grid.x;
        break;
      case Special::NctaidY:
        value = grid.y;
        break;
      case Special::NctaidZ:
        value = grid.z;
        break;
      case Special::LaneId:
        value = lane;
        break;
      case Special::WarpId:
        value = index;
        break;
      case Special::NwarpId:
        value = (size.x * size.y * size.z + warpSize - 1) / warpSize;
        break;
      case Special::SmId:
        value = 0;
        break;
      case Special::NsmId:
        value = 1;
        break;
      case Special::GridId:
        value = 0;
        break;
      case Special::LanemaskEq:
        value = 1u << lane;
        break;
      case Special::LanemaskLt:
        value = (1u << lane) - 1;
        break;
      case Special::LanemaskLe:
        value = (2u << lane) - 1;
        break;
      case Special::LanemaskGe:
        value = ~((1u << lane) - 1);
        break;
      case Special::LanemaskGt:
        value = ~((2u << lane) - 1);
        break;
      case Special::DynamicSmemSize:
        value = dynamic;
        break;
      case Special::TotalSmemSize:
        value = dynamic + launch.kernel.info.staticSharedBytes;
        break;
      }
      if (each.wide)
        row<uint64_t>({each.offset, 0})[lane] = value;
      else
        row<uint32_t>({each.offset, 0})[lane] = static_cast<uint32_t>(value);
    }
}

void Warp::undefined(const Instruction &instruction, uint32_t mask) {
  uint32_t missing = 0, which = 0;
  if (instruction.guarded)
    missing = mask & ~defined[instruction.guard.index];
  for (uint32_t i = 0; i < instruction.sources && !missing; ++i) {
    missing = mask & ~defined[instruction.operands[instruction.destinations + i].index];
    which = i + 1;
  }
  throw LaneFault{Fault::Kind::Uninitialised, static_cast<uint32_t>(std::countr_zero(missing)),
                  "read of an uninitialised register: " +
                      (which ? "source " + std::to_string(which) : std::string("the guard"))};
}

Warp::State Warp::step(uint32_t slice) {
  const Instruction *code = launch.kernel.code.data();
  uint64_t lanes = 0, count = 0;
  struct Counter { // kept when a handler throws
    LaunchState &launch;
    uint64_t &lanes, &count;
    ~Counter() {
      launch.laneInstructions += lanes;
      launch.warpInstructions += count;
    }
  } counter{launch, lanes, count};

  while (alive_) {
    Entry &top = stack.back();
    if (top.pc == top.reconverge || !top.mask) {
      stack.pop_back();
      continue;
    }
    if (slice-- == 0)
      return State::Ready;
    currentPc = top.pc;
    const Instruction &in = code[currentPc];
    uint32_t mask = top.mask;
    ++count;
    if (in.guarded) {
      if (mask & ~defined[in.guard.index])
        undefined(in, mask);
      uint32_t guard = predicate(in.guard);
      mask &= in.guardNegated ? ~guard : guard;
    }
    lanes += std::popcount(mask);
    const Operand *sources = in.operands + in.destinations;
    if (in.kind != Instruction::Kind::Move && mask) {
      uint32_t all = ~0u;
      for (uint32_t i = 0; i < in.sources; ++i)
        all &= defined[sources[i].index];
      if (mask & ~all)
        undefined(in, mask);
    }
    switch (in.kind) {
    case Instruction::Kind::Plain:
      if (mask) {
        in.run(*this, in, mask);
        for (uint32_t i = 0; i < in.destinations; ++i)
          defined[in.operands[i].index] |= mask;
      }
      ++top.pc;
      break;
    case Instruction::Kind::Move: {
      // Copying what is undefined is harmless: compilers do it for values that nobody will read.
      if (mask) {
        in.run(*this, in, mask);
        uint32_t all = ~0u;
        for (uint32_t i = 0; i < in.sources; ++i)
          all &= defined[sources[i].index];
        for (uint32_t i = 0; i < in.destinations; ++i)
          defined[in.operands[i].index] = (defined[in.operands[i].index] & ~mask) | (all & mask);
      }
      ++top.pc;
      break;
    }
    case Instruction::Kind::Branch:
      branch(in, mask, top.mask);
      break;
    case Instruction::Kind::IndirectBranch:
      if (mask != top.mask)
        throw LaneFault{Fault::Kind::Unsupported, 0, "a predicated brx.idx"};
      indirectBranch(in, mask);
      break;
    case Instruction::Kind::Exit:
      ++top.pc;
      exitLanes(mask);
      break;
    case Instruction::Kind::Trap:
      if (mask)
        throw LaneFault{Fault::Kind::Trap, static_cast<uint32_t>(std::countr_zero(mask)),
                        "the kernel executed a trap"};
      ++top.pc;
      break;
    case Instruction::Kind::Barrier:
      ++top.pc;
      if (!mask)
        break;
      reachBarrier(in, mask);
      return State::Waiting;
    }
  }
  return State::Done;
}

void Warp::exitLanes(uint32_t mask) {
  alive_ &= ~mask;
  for (Entry &each : stack)
    each.mask &= ~mask;
}

void Warp::branch(const Instruction &in, uint32_t taken, uint32_t mask) {
  Entry &top = stack.back();
  uint32_t next = top.pc + 1, fallen = mask & ~taken;
  if (!fallen || !taken) {
    top.pc = fallen ? next : in.target;
    return;
  }
  if (launch.statistics)
    ++launch.statistics->divergentBranches;
  // Lanes that go straight to the end exit now, so that nobody waits for them.
  auto ends = [&](uint32_t pc) {
    const Instruction &to = launch.kernel.code[pc];
    return to.kind == Instruction::Kind::Exit && !to.guarded;
  };
  if (ends(in.target) || ends(next)) {
    top.pc = ends(in.target) ? next : in.target;
    exitLanes(ends(in.target) ? taken : fallen);
    return;
  }
  uint32_t join = in.reconverge;
  if (join == launch.kernel.code.size()) { // never again together
    top = {next, top.reconverge, fallen};
    stack.push_back({in.target, top.reconverge, taken});
    return;
  }
  top.pc = join;
  if (join == top.reconverge) // a loop: do not pile up
    stack.pop_back();
  if (next != join)
    stack.push_back({next, join, fallen});
  if (in.target != join)
    stack.push_back({in.target, join, taken});
}

void Warp::indirectBranch(const Instruction &in, uint32_t mask) {
  Entry top = stack.back();
  const uint32_t *selector = row<uint32_t>(in.operands[in.destinations]);
  std::vector<std::pair<uint32_t, uint32_t>> ways; // target, lanes
  forLanes(mask, [&](uint32_t lane) {
    if (selector[lane] >= in.targets.size())
      throw LaneFault{Fault::Kind::IllegalInstruction, lane,
                      "index " + std::to_string(selector[lane]) + " beyond the branch targets"};
    uint32_t target = in.targets[selector[lane]];
    auto way = std::find_if(ways.begin(), ways.end(), [&](auto &w) { return w.first == target; });
    if (way == ways.end())
      way = ways.insert(way, {target, 0});
    way->second |= 1u << lane;
  });
  if (ways.size() == 1) {
    stack.back().pc = ways[0].first;
    return;
  }
  uint32_t nowhere = launch.kernel.code.size(), join = in.reconverge;
  stack.pop_back();
  if (join != nowhere && join != top.reconverge)
    stack.push_back({join, top.reconverge, mask});
  for (auto [target, lanes] : ways)
    if (target != join)
      stack.push_back({target, join == nowhere ? top.reconverge : join, lanes});
}

void Warp::reachBarrier(const Instruction &in, uint32_t mask) {
  uint32_t first = std::countr_zero(mask);
  if (mask != alive_) {
    uint32_t absent = std::countr_zero(alive_ & ~mask);
    throw LaneFault{Fault::Kind::DivergentBarrier, first,
                    "divergent barrier: lane " + std::to_string(absent) + " of warp " +
                        std::to_string(index) + " does not reach it together with this thread"};
  }
  const Operand *sources = in.operands + in.destinations;
  auto kind = static_cast<BarrierKind>(in.immediate);
  uint32_t votes = kind >= BarrierKind::Popc ? predicateSource(in, in.sources - 1) & mask : 0;
  uint32_t numbers = in.sources - (kind >= BarrierKind::Popc);
  auto uniform = [&](uint32_t source) {
    uint32_t *values = row<uint32_t>(sources[source]), value = values[first];
    forLanes(mask, [&](uint32_t lane) {
      if (values[lane] != value)
        throw LaneFault{Fault::Kind::IllegalInstruction, lane,
                        "threads of a warp name different barriers or counts"};
    });
    return value;
  };
  wait = {kind, uniform(0), numbers > 1 ? uniform(1) : 0, votes,
          in.destinations ? in.operands[0] : Operand()};
  if (wait.barrier >= 16 || wait.threads % warpSize ||
      (kind == BarrierKind::Arrive && !wait.threads))
    throw LaneFault{Fault::Kind::IllegalInstruction, first,
                    "barrier " + std::to_string(wait.barrier) + " for " +
                        std::to_string(wait.threads) +
                        " threads: there are 16 barriers, and they count whole warps"};
}

void Warp::finishReduction(uint32_t value) {
  if (wait.kind < BarrierKind::Popc)
    return;
  if (wait.kind == BarrierKind::Popc)
    forLanes(alive_, [&](uint32_t lane) { row<uint32_t>(wait.result)[lane] = value; });
  else
    predicate(wait.result) = (predicate(wait.result) & ~alive_) | (value ? alive_ : 0);
  defined[wait.result.index] |= alive_;
}
