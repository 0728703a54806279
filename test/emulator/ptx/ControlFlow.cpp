// Where divergent branches join again: the nearest instruction that all ways to the end pass.
//
// Lanes that exit vanish. So an early `ret` must not keep the others from joining: only the last
// exit of the text counts as the end, and ways that end elsewhere are left out.
#include "test/emulator/ptx/Program.h"

#include <algorithm>
#include <set>

using namespace gc::emulator::ptx;

namespace {

constexpr uint32_t none = UINT32_MAX;

struct Graph {
  std::vector<uint32_t> first; ///< instruction of each block
  std::vector<std::vector<uint32_t>> successors, predecessors;
  std::vector<bool> ends;
};

using Kind = Instruction::Kind;

Graph blocksOf(const std::vector<Instruction> &code) {
  std::set<uint32_t> leaders{0};
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (code[i].kind == Kind::Branch)
      leaders.insert(code[i].target);
    leaders.insert(code[i].targets.begin(), code[i].targets.end());
    if ((code[i].kind == Kind::Branch || code[i].kind == Kind::IndirectBranch ||
         code[i].kind == Kind::Exit || code[i].kind == Kind::Trap) &&
        i + 1 < code.size())
      leaders.insert(i + 1);
  }
  Graph graph;
  graph.first.assign(leaders.begin(), leaders.end());
  size_t count = graph.first.size();
  graph.successors.resize(count);
  graph.predecessors.resize(count);
  graph.ends.resize(count);
  auto blockAt = [&](uint32_t i) -> uint32_t {
    return std::lower_bound(graph.first.begin(), graph.first.end(), i) - graph.first.begin();
  };
  for (uint32_t block = 0; block < count; ++block) {
    uint32_t end = block + 1 < count ? graph.first[block + 1] : code.size();
    const Instruction &last = code[end - 1];
    bool falls = last.guarded;
    auto connect = [&](uint32_t target) {
      graph.successors[block].push_back(blockAt(target));
      graph.predecessors[blockAt(target)].push_back(block);
    };
    if (last.kind == Kind::Branch)
      connect(last.target);
    else if (last.kind == Kind::IndirectBranch)
      for (uint32_t target : last.targets)
        connect(target);
    else if (last.kind == Kind::Exit || last.kind == Kind::Trap)
      graph.ends[block] = !last.guarded;
    else
      falls = true;
    if (falls && end < code.size())
      connect(end);
  }
  return graph;
}

/// Immediate post-dominators with respect to block `exit`; `none` where it cannot be reached.
std::vector<uint32_t> postDominators(const Graph &graph, uint32_t exit) {
  size_t count = graph.first.size();
  std::vector<uint32_t> order, number(count, none);
  std::vector<std::pair<uint32_t, size_t>> work{{exit, 0}};
  std::vector<bool> visited(count);
  visited[exit] = true;
  while (!work.empty()) { // post-order of the reversed graph
    auto &[block, next] = work.back();
    if (next == graph.predecessors[block].size()) {
      number[block] = order.size();
      order.push_back(block);
      work.pop_back();
    } else if (uint32_t other = graph.predecessors[block][next++]; !visited[other]) {
      visited[other] = true;
      work.push_back({other, 0});
    }
  }
  std::vector<uint32_t> result(count, none);
  result[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      if (*block == exit)
        continue;
      uint32_t best = none;
      for (uint32_t other : graph.successors[*block]) {
        if (result[other] == none)
          continue;
        if (best == none) {
          best = other;
          continue;
        }
        for (uint32_t a = other; a != best;) {
          while (number[a] < number[best])
            a = result[a];
          while (number[best] < number[a])
            best = result[best];
        }
      }
      changed |= result[*block] != best;
      result[*block] = best;
    }
  }
  return result;
}

} // namespace

void gc::emulator::ptx::findReconvergence(std::vector<Instruction> &code) {
  Graph graph = blocksOf(code);
  // The last exit that the start can reach: the decoder ends every kernel with one that may be
  // dead.
  std::vector<bool> reachable(graph.first.size());
  std::vector<uint32_t> work{0};
  reachable[0] = true;
  uint32_t exit = none;
  while (!work.empty()) {
    uint32_t block = work.back();
    work.pop_back();
    if (graph.ends[block] && (exit == none || block > exit))
      exit = block;
    for (uint32_t next : graph.successors[block])
      if (!reachable[next]) {
        reachable[next] = true;
        work.push_back(next);
      }
  }
  std::vector<uint32_t> after(graph.first.size(), none);
  if (exit != none)
    after = postDominators(graph, exit);
  for (uint32_t block = 0; block < graph.first.size(); ++block) {
    uint32_t end = block + 1 < graph.first.size() ? graph.first[block + 1] : code.size();
    bool joins = block != exit && after[block] != none;
    code[end - 1].reconverge = joins ? graph.first[after[block]] : code.size();
  }
}
