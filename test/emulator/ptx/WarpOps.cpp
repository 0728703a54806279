// What the threads of a warp or block do together: shuffles, votes, reductions, barriers.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/LaneLoops.h"

using namespace gc::emulator::ptx;

namespace {

/// All live members of a lane's mask must execute the instruction together. (A real GPU would wait
/// for them; here lanes that are together at all arrive together.)
void gather(Warp &warp, const uint32_t *members, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) {
    if (!(members[lane] >> lane & 1))
      throw LaneFault{Fault::Kind::IllegalInstruction, lane,
                      "the thread is not in the member mask that it gives"};
    if (uint32_t absent = members[lane] & warp.alive() & ~mask)
      throw LaneFault{Fault::Kind::DivergentBarrier, lane,
                      "the member mask names lane " + std::to_string(std::countr_zero(absent)) +
                          ", which does not reach this instruction together with the others"};
  });
  warp.shared.synchroniseWarp(warp.index);
}

enum class Shuffle { Up, Down, Butterfly, Index };

/// Destinations d, p; sources a, b, c, members.
template <Shuffle mode> void shuffle(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *a = warp.row<uint32_t>(in.operands[2]), *b = warp.row<uint32_t>(in.operands[3]),
                 *c = warp.row<uint32_t>(in.operands[4]),
                 *members = warp.row<uint32_t>(in.operands[5]);
  gather(warp, members, mask);
  uint32_t values[warpSize], inRange = 0;
  forLanes(mask, [&](uint32_t lane) {
    int bits = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    int self = lane, last = (self & segment) | (clamp & ~segment), first = self & segment;
    int from = 0;
    bool valid = false;
    switch (mode) {
    case Shuffle::Up:
      from = self - bits;
      valid = from >= last;
      break;
    case Shuffle::Down:
      from = self + bits;
      valid = from <= last;
      break;
    case Shuffle::Butterfly:
      from = self ^ bits;
      valid = from <= last;
      break;
    case Shuffle::Index:
      from = first | (bits & ~segment);
      valid = from <= last;
      break;
    }
    if (!valid)
      from = self;
    if (!(members[lane] & mask & 1u << from))
      throw LaneFault{Fault::Kind::IllegalInstruction, lane,
                      "shuffle from lane " + std::to_string(from) +
                          ", which is inactive or not in the member mask"};
    values[lane] = a[from];
    inRange |= uint32_t(valid) << lane;
  });
  uint32_t *out = warp.row<uint32_t>(in.operands[0]);
  forLanes(mask, [&](uint32_t lane) { out[lane] = values[lane]; });
  writePredicate(warp.predicate(in.operands[1]), mask, inRange);
}

void decodeShuffle(Builder &b) {
  if (!b.take("sync"))
    b.fail("only shfl.sync is supported");
  auto mode = b.takeAny({"up", "down", "bfly", "idx"});
  if (!mode)
    b.fail("expected .up, .down, .bfly or .idx");
  b.takeType({Type::B32});
  constexpr Handler handlers[] = {shuffle<Shuffle::Up>, shuffle<Shuffle::Down>,
                                  shuffle<Shuffle::Butterfly>, shuffle<Shuffle::Index>};
  b.instruction.run = handlers[*mode];
  const Expression &to = b.takeOperand();
  bool pair = to.kind == Expression::Kind::Pair;
  b.destinationOf(pair ? to.children[0] : to, Type::B32);
  if (pair)
    b.destinationOf(to.children[1], Type::Pred);
  else
    b.scratchDestination(Type::Pred);
  for (int i = 0; i < 4; ++i)
    b.source(Type::B32);
}

enum class Vote { All, Any, Uniform, Ballot };

template <Vote mode> void vote(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t votes = warp.predicateSource(in, 0);
  const uint32_t *members = warp.row<uint32_t>(in.operands[2]);
  gather(warp, members, mask);
  uint32_t holds = 0;
  forLanes(mask, [&](uint32_t lane) {
    uint32_t group = members[lane] & mask, yes = votes & group;
    if constexpr (mode == Vote::Ballot)
      warp.row<uint32_t>(in.operands[0])[lane] = yes;
    else
      holds |= uint32_t(mode == Vote::All   ? yes == group
                        : mode == Vote::Any ? yes != 0
                                            : yes == 0 || yes == group)
               << lane;
  });
  if constexpr (mode != Vote::Ballot)
    writePredicate(warp.predicate(in.operands[0]), mask, holds);
}

void decodeVote(Builder &b) {
  if (!b.take("sync"))
    b.fail("only vote.sync is supported");
  auto mode = b.takeAny({"all", "any", "uni", "ballot"});
  if (!mode)
    b.fail("expected .all, .any, .uni or .ballot");
  constexpr Handler handlers[] = {vote<Vote::All>, vote<Vote::Any>, vote<Vote::Uniform>,
                                  vote<Vote::Ballot>};
  b.instruction.run = handlers[*mode];
  b.destination(b.takeType({*mode == 3 ? Type::B32 : Type::Pred}));
  b.predicateSource();
  b.source(Type::B32);
}

void activeLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask, [=](uint32_t) { return mask; });
}
void decodeActive(Builder &b) {
  b.destination(b.takeType({Type::B32}));
  b.instruction.run = activeLanes;
}

/// match.sync: lanes with the same value; .all also says whether all members agree.
template <class T, bool All> void match(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[2]);
  const uint32_t *members = warp.row<uint32_t>(in.operands[3]);
  gather(warp, members, mask);
  uint32_t *out = warp.row<uint32_t>(in.operands[0]), agree = 0;
  uint32_t results[warpSize];
  forLanes(mask, [&](uint32_t lane) {
    uint32_t same = 0, group = members[lane] & mask;
    forLanes(group, [&](uint32_t other) { same |= uint32_t(a[other] == a[lane]) << other; });
    agree |= uint32_t(same == group) << lane;
    results[lane] = All ? (same == group ? same : 0) : same;
  });
  forLanes(mask, [&](uint32_t lane) { out[lane] = results[lane]; });
  writePredicate(warp.predicate(in.operands[1]), mask, agree);
}
void decodeMatch(Builder &b) {
  auto mode = b.takeAny({"any", "all"});
  if (!mode || !b.take("sync"))
    b.fail("expected .any.sync or .all.sync");
  Type type = b.takeType({Type::B32, Type::B64});
  b.instruction.run = type == Type::B32 ? (*mode ? match<uint32_t, true> : match<uint32_t, false>)
                                        : (*mode ? match<uint64_t, true> : match<uint64_t, false>);
  const Expression &to = b.takeOperand();
  bool pair = to.kind == Expression::Kind::Pair;
  b.destinationOf(pair ? to.children[0] : to, Type::B32);
  if (pair && *mode)
    b.destinationOf(to.children[1], Type::Pred);
  else if (pair)
    b.fail("only match.all gives a predicate");
  else
    b.scratchDestination(Type::Pred);
  b.source(type);
  b.source(Type::B32);
}

template <class T, int Operation> void reduce(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  const uint32_t *members = warp.row<uint32_t>(in.operands[2]);
  gather(warp, members, mask);
  T results[warpSize];
  forLanes(mask, [&](uint32_t lane) {
    uint32_t group = members[lane] & mask;
    T value = a[std::countr_zero(group)];
    forLanes(group & (group - 1), [&](uint32_t other) {
      T next = a[other];
      switch (Operation) {
      case 0:
        value = T(uint32_t(value) + uint32_t(next));
        break;
      case 1:
        value = std::min(value, next);
        break;
      case 2:
        value = std::max(value, next);
        break;
      case 3:
        value &= next;
        break;
      case 4:
        value |= next;
        break;
      default:
        value ^= next;
      }
    });
    results[lane] = value;
  });
  forLanes(mask, [&](uint32_t lane) { warp.row<T>(in.operands[0])[lane] = results[lane]; });
}
void decodeReduce(Builder &b) {
  if (!b.take("sync"))
    b.fail("expected .sync");
  auto operation = b.takeAny({"add", "min", "max", "and", "or", "xor"});
  if (!operation)
    b.fail("unknown operation");
  Type type = *operation < 3 ? b.takeType({Type::U32, Type::S32}) : b.takeType({Type::B32});
  constexpr Handler unsignedOnes[] = {reduce<uint32_t, 0>, reduce<uint32_t, 1>,
                                      reduce<uint32_t, 2>, reduce<uint32_t, 3>,
                                      reduce<uint32_t, 4>, reduce<uint32_t, 5>};
  constexpr Handler signedOnes[] = {reduce<int32_t, 0>, reduce<int32_t, 1>, reduce<int32_t, 2>};
  b.instruction.run = type == Type::S32 ? signedOnes[*operation] : unsignedOnes[*operation];
  b.destination(type);
  b.source(type);
  b.source(Type::B32);
}

void synchroniseWarp(Warp &warp, const Instruction &in, uint32_t mask) {
  gather(warp, warp.row<uint32_t>(in.operands[0]), mask);
}

/// bar and barrier. The forms without .aligned let a warp's threads arrive apart on real GPUs; here
/// they must be together, or it is a fault.
void decodeBarrier(Builder &b) {
  if (b.opcode() == "bar" && b.take("warp")) {
    if (!b.take("sync"))
      b.fail("expected .sync");
    b.instruction.run = synchroniseWarp;
    b.source(Type::B32);
    return;
  }
  b.take("cta");
  auto form = b.takeAny({"sync", "arrive", "red"});
  if (!form)
    b.fail("expected .sync, .arrive or .red");
  auto kind = static_cast<BarrierKind>(*form);
  b.instruction.kind = Instruction::Kind::Barrier;
  if (*form == 2) {
    auto operation = b.takeAny({"popc", "and", "or"});
    if (!operation)
      b.fail("expected .popc, .and or .or");
    kind = static_cast<BarrierKind>(static_cast<size_t>(BarrierKind::Popc) + *operation);
    if (b.opcode() == "barrier")
      b.take("aligned");
    b.destination(b.takeType({*operation ? Type::Pred : Type::U32}));
  } else if (b.opcode() == "barrier")
    b.take("aligned");
  b.instruction.immediate = static_cast<int64_t>(kind);
  b.source(Type::U32);
  if (b.operandsLeft() > (*form == 2 ? 1u : 0u))
    b.source(Type::U32);
  if (*form == 2)
    b.predicateSource();
}

void nothing(Warp &, const Instruction &, uint32_t) {}
void decodeSleep(Builder &b) {
  b.source(b.takeType({Type::U32}));
  b.instruction.run = nothing;
}

} // namespace

Decode gc::emulator::ptx::warpDecoder(std::string_view opcode) {
  static const std::map<std::string_view, Decode> table = {
      {"shfl", decodeShuffle},    {"vote", decodeVote},      {"activemask", decodeActive},
      {"match", decodeMatch},     {"redux", decodeReduce},   {"bar", decodeBarrier},
      {"barrier", decodeBarrier}, {"nanosleep", decodeSleep}};
  auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}
