#include "passes/algorithms/rematerialization/CutPlans.h"

#include "passes/algorithms/rematerialization/RecomputeCut.h"

#include <algorithm>

namespace gc {
namespace {

// The bytes of a value that is kept lie there from its last use in forward to the moment at which
// it would have come back. Moments are the original ops, by number; what is recomputed before an op
// belongs to the op's moment.
struct Gap {
  int begin = -1, end = -1;
  bool contains(int moment) const { return begin < moment && moment <= end; }
};

class CutSearch {
public:
  CutSearch(const StepGraph &graph, const CutOptions &options)
      : graph(graph), options(options), scheduler(graph), cut(graph),
        firstBackward(firstBackwardOp(graph)), isDecidable(graph.values.size(), 0) {
    for (int value : decidableValues(graph))
      isDecidable[value] = 1;
  }

  std::vector<RematPlan> run() {
    RematPlan all = keepAll(graph);
    pricePerByte = all.seconds / static_cast<double>(std::max<int64_t>(1, all.peak)) / 20;
    found.push_back(all);
    explore(all.retention, /*keepsItsOwn=*/false);
    int most = static_cast<int>(savedValues(graph).size());
    for (int count = 0; count < most;
         count += 1 + static_cast<int>(count * options.checkpointing)) {
      RematPlan plan = keepCheckpoints(graph, count);
      explore(plan.retention, /*keepsItsOwn=*/true);
    }
    return paretoOf(std::move(found));
  }

private:
  // Plans that recompute in the segments of `retention`. Its checkpoints stay if `keepsItsOwn`.
  void explore(const std::vector<Retention> &retention, bool keepsItsOwn) {
    const Schedule &schedule = scheduler.build(retention);
    if (!schedule.valid())
      return;
    size_t first = found.size();
    std::vector<Gap> gaps = gapsOf(schedule);
    std::vector<char> isFree(graph.values.size(), 0); // to keep, because small or a checkpoint
    for (size_t v = 0; v < graph.values.size(); ++v)
      isFree[v] = !isDecidable[v] || (keepsItsOwn && retention[v] == Retention::Keep);
    std::vector<std::pair<int, double>> weights{{firstBackward, 1.}}; // of moments
    std::vector<double> prices(graph.values.size(), 0);
    double price = pricePerByte;
    for (int i = 0; i < options.prices; ++i, price *= options.priceRatio)
      for (int round = 0; round < options.rounds; ++round) {
        double sum = 0;
        for (auto [moment, weight] : weights)
          sum += weight;
        for (size_t v = 0; v < prices.size(); ++v) {
          double part = 0;
          if (!isFree[v])
            for (auto [moment, weight] : weights)
              part += gaps[v].contains(moment) ? weight : 0;
          prices[v] = price * static_cast<double>(graph.values[v].bytes) * part / sum;
        }
        cut.solve(prices);
        std::optional<int> peak = record(cut.retention());
        if (!peak)
          break;
        for (auto &[moment, weight] : weights)
          weight *= 0.8;
        auto known = std::find_if(weights.begin(), weights.end(),
                                  [&](const auto &entry) { return entry.first == *peak; });
        if (known == weights.end())
          weights.push_back({*peak, 1});
        else
          known->second += 1;
      }
    mixNeighbours(first);
    found = paretoOf(std::move(found));
  }

  // Equal blocks change their mind at the same price. Between two plans, the forward pass up to
  // some op is treated as in the one, and the rest as in the other.
  void mixNeighbours(size_t first) {
    std::vector<RematPlan> own = paretoOf({found.begin() + first, found.end()});
    for (size_t i = 0; i + 1 < own.size(); ++i) {
      auto gap =
          static_cast<double>(own[i].peak - own[i + 1].peak) / static_cast<double>(own[i].peak);
      int parts = std::min(options.mixes, static_cast<int>(gap / options.mixedGap));
      for (int part = 1; part <= parts; ++part) {
        int at = firstBackward * part / (parts + 1);
        record(mixed(own[i].retention, own[i + 1].retention, at));
        record(mixed(own[i + 1].retention, own[i].retention, at));
      }
    }
  }

  std::vector<Retention> mixed(const std::vector<Retention> &before,
                               const std::vector<Retention> &after, int at) const {
    std::vector<Retention> retention = after;
    for (size_t v = 0; v < retention.size(); ++v)
      if (graph.values[v].producer < at)
        retention[v] = before[v];
    return retention;
  }

  // Simulates the decisions and returns the moment of the peak; nothing if they are impossible.
  std::optional<int> record(std::vector<Retention> retention) {
    const Schedule &schedule = scheduler.build(retention);
    if (!schedule.valid())
      return std::nullopt;
    lives.analyse(scheduler.flat(), schedule);
    found.push_back(
        {std::move(retention), nullptr, lives.peak(), lives.seconds(), lives.recomputeSeconds()});
    for (int place = lives.peakAt(); place < schedule.size(); ++place)
      if (!schedule.recomputed(place))
        return schedule.op(place);
    return static_cast<int>(graph.ops.size());
  }

  std::vector<Gap> gapsOf(const Schedule &schedule) const {
    const FlatGraph &flat = scheduler.flat();
    std::vector<int> momentOf(schedule.size());
    int moment = static_cast<int>(graph.ops.size());
    for (int place = schedule.size() - 1; place >= 0; --place) {
      if (!schedule.recomputed(place))
        moment = schedule.op(place);
      momentOf[place] = moment;
    }
    std::vector<Gap> gaps(graph.values.size());
    for (int place = 0; place < schedule.size(); ++place) {
      const FlatGraph::Op &op = flat.ops[schedule.op(place)];
      bool isForward = !op.backward && !schedule.recomputed(place);
      auto touch = [&](int value) {
        if (isForward)
          gaps[value].begin = momentOf[place];
        else if (gaps[value].end < 0)
          gaps[value].end = momentOf[place];
      };
      for (int value : flat.list(op.operands))
        touch(value);
      for (int value : flat.list(op.results))
        touch(value);
    }
    // What nothing reads in backward would be kept for what is made from it.
    for (int i = firstBackward - 1; i >= 0; --i) {
      int end = -1;
      for (int result : graph.ops[i].results)
        if (gaps[result].end >= 0 && (end < 0 || gaps[result].end < end))
          end = gaps[result].end;
      for (int operand : graph.ops[i].operands)
        if (gaps[operand].end < 0)
          gaps[operand].end = end;
    }
    return gaps;
  }

  const StepGraph &graph;
  const CutOptions &options;
  Scheduler scheduler;
  RecomputeCut cut;
  Lives lives;
  int firstBackward;
  std::vector<char> isDecidable;
  double pricePerByte = 0;
  std::vector<RematPlan> found;
};

} // namespace

std::vector<RematPlan> cutPlans(const StepGraph &graph, const CutOptions &options) {
  return CutSearch(graph, options).run();
}

} // namespace gc
