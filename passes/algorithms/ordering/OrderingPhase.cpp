#include "passes/algorithms/ordering/OrderingPhase.h"

#include <algorithm>

namespace gc {
namespace {

class PhaseBuilder {
public:
  PhaseBuilder(const StepGraph &graph, const ExtraEdges &before, int begin, int end)
      : graph(graph), before(before), begin(begin), end(end) {
    lastUse.assign(graph.values.size(), -1);
    localOf.assign(graph.values.size(), -1);
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (int value : graph.ops[i].operands)
        lastUse[value] = static_cast<int>(i);
  }

  Phase make() {
    for (int i = begin; i < end; ++i)
      add(i);
    phase.count = end - begin;
    addGates();
    for (size_t v = 0; v < graph.values.size(); ++v) {
      int producer = graph.values[v].producer;
      if (producer < 0 || producer >= begin)
        continue;
      if (graph.values[v].untilEnd || lastUse[v] >= begin)
        phase.live[Kept] += alignedBytes(graph.values[v].bytes);
      if (graph.values[v].untilEnd)
        phase.live[MadeAgain] += alignedBytes(graph.values[v].bytes);
    }
    return std::move(phase);
  }

private:
  int localValue(int value) {
    if (localOf[value] < 0) {
      localOf[value] = static_cast<int>(phase.values.size());
      const StepValue &given = graph.values[value];
      phase.values.push_back({alignedBytes(given.bytes), given.producer < begin,
                              lastUse[value] >= end, given.untilEnd, 0});
    }
    return localOf[value];
  }

  void add(int index) {
    const StepOp &op = graph.ops[index];
    Phase::Op made;
    made.workspace = alignedBytes(op.workspace);
    std::vector<int> previous = before[index];
    for (int value : op.operands) {
      int producer = graph.values[value].producer;
      if (producer < 0)
        continue;
      previous.push_back(producer);
      int local = localValue(value);
      if (std::find(made.operands.begin(), made.operands.end(), local) == made.operands.end()) {
        made.operands.push_back(local);
        ++phase.values[local].uses;
      }
    }
    for (int value : op.results)
      made.results.push_back(localValue(value));
    addInPlace(op, made);
    phase.ops.push_back(std::move(made));
    waitsFor.push_back(std::move(previous));
  }

  // Adds the gates, and the edges of all.
  void addGates() {
    std::vector<int> placeOf(before.size(), -1);
    for (int i = begin; i < end; ++i)
      placeOf[i] = i - begin;
    for (size_t gate = graph.ops.size(); gate < before.size(); ++gate) {
      placeOf[gate] = static_cast<int>(phase.ops.size());
      phase.ops.emplace_back();
      waitsFor.push_back(before[gate]);
    }
    for (size_t i = 0; i < phase.ops.size(); ++i) {
      std::vector<int> &previous = waitsFor[i];
      std::sort(previous.begin(), previous.end());
      previous.erase(std::unique(previous.begin(), previous.end()), previous.end());
      for (int other : previous)
        if (placeOf[other] >= 0) {
          phase.ops[placeOf[other]].next.push_back(static_cast<int>(i));
          ++phase.ops[i].waiting;
        }
    }
    openGates();
  }

  // Gates that wait for nothing in this phase hold up nobody.
  void openGates() {
    std::vector<int> open;
    for (size_t i = phase.count; i < phase.ops.size(); ++i)
      if (phase.ops[i].waiting == 0)
        open.push_back(static_cast<int>(i));
    while (!open.empty()) {
      int gate = open.back();
      open.pop_back();
      for (int next : phase.ops[gate].next)
        if (--phase.ops[next].waiting == 0 && next >= phase.count)
          open.push_back(next);
    }
  }

  // An operand may be overwritten if it is as large as the result and all places that show it
  // agree.
  void addInPlace(const StepOp &op, Phase::Op &made) {
    for (size_t r = 0; r < op.results.size(); ++r)
      for (int value : op.operands) {
        if (graph.values[value].producer < 0 || alignedBytes(graph.values[value].bytes) !=
                                                    alignedBytes(graph.values[op.results[r]].bytes))
          continue;
        bool allowed = true;
        for (size_t o = 0; o < op.operands.size(); ++o)
          if (op.operands[o] == value)
            allowed &= std::find(op.inPlace.begin(), op.inPlace.end(), std::pair<int, int>(o, r)) !=
                       op.inPlace.end();
        if (allowed)
          made.inPlace.push_back({static_cast<int>(r), localOf[value]});
      }
  }

  const StepGraph &graph;
  const ExtraEdges &before;
  int begin, end;
  std::vector<int> lastUse;               // of each value; -1: none
  std::vector<int> localOf;               // its place in the phase; -1: none
  std::vector<std::vector<int>> waitsFor; // for each op and gate of the phase, numbers of `before`
  Phase phase;
};

} // namespace

Phase makePhase(const StepGraph &graph, const ExtraEdges &before, int begin, int end) {
  return PhaseBuilder(graph, before, begin, end).make();
}

} // namespace gc
