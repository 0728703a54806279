#include "test/algorithms/RandomStepGraph.h"

#include <algorithm>

namespace gc::test {

int GraphBuilder::input() {
  graph.values.push_back({0, -1, false});
  return static_cast<int>(graph.values.size()) - 1;
}

int GraphBuilder::op(std::vector<int> operands, int64_t bytes, double seconds, bool backward,
                     bool repeatable, int64_t workspace) {
  StepOp made;
  made.operands = std::move(operands);
  made.seconds = seconds;
  made.workspace = workspace;
  made.backward = backward;
  made.repeatable = repeatable;
  graph.ops.push_back(made);
  return alsoMakes(bytes);
}

int GraphBuilder::alsoMakes(int64_t bytes) {
  int value = static_cast<int>(graph.values.size());
  graph.values.push_back({bytes, static_cast<int>(graph.ops.size()) - 1, false});
  graph.ops.back().results.push_back(value);
  return value;
}

void GraphBuilder::update(int variable, std::vector<int> operands) {
  StepOp made;
  made.operands = std::move(operands);
  made.operands.push_back(variable);
  made.seconds = 0.125;
  made.backward = true;
  made.changes = {variable};
  graph.ops.push_back(made);
}

StepGraph chain(int n, int64_t bytes, double seconds) {
  GraphBuilder b;
  std::vector<int> values{b.input()};
  for (int i = 0; i < n; ++i)
    values.push_back(b.op({values.back()}, bytes, seconds, false));
  int gradient = b.op({values.back()}, bytes, seconds, true);
  for (int i = n - 1; i >= 1; --i)
    gradient = b.op({values[i], gradient}, bytes, seconds, true);
  b.graph.values[gradient].untilEnd = true;
  return b.graph;
}

namespace {

class RandomStep {
public:
  RandomStep(std::mt19937 &random, const GraphTraits &traits) : random(random), traits(traits) {}

  StepGraph make() {
    int n = pick(traits.leastForward, traits.mostForward);
    readable = {b.input(), b.input()};
    for (int i = 0; i < n; ++i)
      forwardOp();
    gradient = b.op({madeBy.back().front()}, bytes(), seconds(), true);
    for (int i = n - 1; i >= 0; --i)
      backwardOp(i);
    for (auto [variable, dependence] : pending)
      b.update(variable, {dependence});
    b.graph.values[gradient].untilEnd = true;
    return std::move(b.graph);
  }

private:
  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); }
  bool chance(bool allowed, int oneIn) { return allowed && pick(1, oneIn) == 1; }
  double seconds() { return 0.125 * pick(1, 16); }
  int64_t bytes() {
    int64_t least = traits.leastBytes, most = traits.mostBytes;
    if (!traits.aligned)
      return std::uniform_int_distribution<int64_t>(least, most)(random);
    return storageAlignment * std::uniform_int_distribution<int64_t>(
                                  least / storageAlignment, most / storageAlignment)(random);
  }
  int64_t workspace() { return chance(traits.workspaces, 3) ? bytes() : 0; }

  // Any operand over any result of the same size; sizes are made equal to have more of them.
  void allowInPlace() {
    if (!chance(traits.inPlace, 2))
      return;
    StepOp &op = b.graph.ops.back();
    for (size_t r = 0; r < op.results.size(); ++r)
      for (size_t o = 0; o < op.operands.size(); ++o)
        if (b.graph.values[op.operands[o]].producer >= 0 && pick(0, 2) > 0) {
          if (op.inPlace.empty())
            b.graph.values[op.results[r]].bytes = b.graph.values[op.operands[o]].bytes;
          op.inPlace.push_back({static_cast<int>(o), static_cast<int>(r)});
        }
  }

  void forwardOp() {
    int recent = static_cast<int>(readable.size());
    std::vector<int> operands{readable[recent - 1 - pick(0, std::min(2, recent - 1))]};
    if (pick(0, 2) == 0)
      operands.push_back(readable[pick(0, recent - 1)]);
    int variable = chance(traits.updates, 3) ? b.input() : -1;
    if (variable >= 0)
      operands.push_back(variable);
    bool repeatable = !chance(traits.unrepeatable, 8);
    std::vector<int> made{
        b.op(std::move(operands), bytes(), seconds(), false, repeatable, workspace())};
    if (chance(traits.severalResults, 4))
      made.push_back(b.alsoMakes(bytes()));
    allowInPlace();
    if (chance(traits.kept, 10))
      b.graph.values[made[pick(0, static_cast<int>(made.size()) - 1)]].untilEnd = true;
    readable.insert(readable.end(), made.begin(), made.end());
    madeBy.push_back(std::move(made));
    variableOf.push_back(variable);
  }

  // Reads the gradient so far, and of what the forward op made and read, and of others, some.
  void backwardOp(int i) {
    std::vector<int> operands{gradient};
    for (int value : madeBy[i])
      if (pick(0, 3) > 0)
        operands.push_back(value);
    if (pick(0, 2) == 0)
      operands.push_back(b.graph.ops[i].operands.front());
    if (pick(0, 4) == 0)
      operands.push_back(readable[pick(0, static_cast<int>(readable.size()) - 1)]);
    if (variableOf[i] >= 0)
      operands.push_back(variableOf[i]);
    gradient = b.op(std::move(operands), bytes(), seconds(), true, true, workspace());
    int ofVariable = variableOf[i] >= 0 ? b.alsoMakes(bytes()) : -1;
    allowInPlace();
    if (ofVariable < 0)
      return;
    if (pick(0, 1))
      b.update(variableOf[i], {ofVariable});
    else
      pending.push_back({variableOf[i], ofVariable});
  }

  std::mt19937 &random;
  const GraphTraits &traits;
  GraphBuilder b;
  std::vector<int> readable;                // what forward ops may read
  std::vector<std::vector<int>> madeBy;     // values, of each forward op
  std::vector<int> variableOf;              // of each forward op, or -1
  std::vector<std::pair<int, int>> pending; // updates that come last
  int gradient = -1;
};

} // namespace

GraphTraits randomTraits(std::mt19937 &random, int mostForward) {
  GraphTraits traits;
  traits.mostForward = mostForward;
  traits.mostBytes = random() % 4 ? 1024 : 1'000'000;
  traits.aligned = random() % 2;
  traits.workspaces = random() % 2;
  traits.severalResults = random() % 2;
  traits.unrepeatable = random() % 2;
  traits.kept = random() % 2;
  traits.updates = random() % 2;
  traits.inPlace = random() % 2;
  return traits;
}

StepGraph randomStepGraph(std::mt19937 &random, const GraphTraits &traits) {
  return RandomStep(random, traits).make();
}

StepGraph residualNetwork(std::mt19937 &random, int blocks) {
  auto pick = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  struct Block {
    int variable, input, convolved, normed, statistics, active;
    int64_t bytes;
  };
  GraphBuilder b;
  auto inPlace = [&](int operand, int result) {
    b.graph.ops.back().inPlace.push_back({operand, result});
  };
  std::vector<Block> all;
  int value = b.op({b.input()}, 1 << 20, 0.5, false);
  int64_t bytes = 1 << 20;
  for (int i = 0; i < blocks; ++i) {
    Block block{b.input(), value, 0, 0, 0, 0, bytes};
    block.convolved =
        b.op({value, block.variable}, bytes, 1 + 0.125 * pick(0, 8), false, true, pick(0, 1) << 16);
    block.normed = b.op({block.convolved}, bytes, 0.125, false);
    block.statistics = b.alsoMakes(512);
    inPlace(0, 0);
    block.active = b.op({block.normed}, bytes, 0.125, false);
    inPlace(0, 0);
    int second = b.op({block.active}, bytes, 0.25, false, pick(0, 9) > 0);
    value = b.op({second, value}, bytes, 0.125, false);
    inPlace(0, 0);
    inPlace(1, 0);
    if (i % 4 == 3 && bytes > 1 << 15) {
      bytes /= 2;
      value = b.op({value}, bytes, 0.25, false);
    }
    all.push_back(block);
  }
  int gradient = b.op({value}, bytes, 0.125, true);
  for (auto block = all.rbegin(); block != all.rend(); ++block) {
    if (b.graph.values[gradient].bytes != block->bytes)
      gradient = b.op({gradient}, block->bytes, 0.25, true);
    int inner = b.op({gradient, block->active}, block->bytes, 0.25, true);
    inPlace(1, 0);
    inner = b.op({inner, block->normed}, block->bytes, 0.125, true);
    inPlace(0, 0);
    inner = b.op({inner, block->convolved, block->statistics}, block->bytes, 0.25, true);
    inPlace(0, 0);
    inPlace(1, 0);
    int ofVariable = b.op({inner, block->input}, 1 << 14, 1, true, true, 1 << 16);
    inner = b.op({inner, block->variable}, block->bytes, 1, true);
    b.update(block->variable, {ofVariable});
    gradient = b.op({gradient, inner}, block->bytes, 0.125, true);
    inPlace(0, 0);
    inPlace(1, 0);
  }
  b.graph.values[gradient].untilEnd = true;
  return std::move(b.graph);
}

} // namespace gc::test
