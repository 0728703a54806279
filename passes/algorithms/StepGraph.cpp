#include "passes/algorithms/StepGraph.h"

#include <algorithm>

namespace gc {

int firstBackwardOp(const StepGraph &graph) {
  auto first = std::find_if(graph.ops.begin(), graph.ops.end(),
                            [](const StepOp &op) { return op.backward; });
  return static_cast<int>(first - graph.ops.begin());
}

FlatGraph::FlatGraph(const StepGraph &graph) {
  for (const StepValue &value : graph.values) {
    bytes.push_back(alignedBytes(value.bytes));
    producer.push_back(value.producer);
    untilEnd.push_back(value.untilEnd);
  }
  auto add = [this](const std::vector<int> &items) {
    Range range{static_cast<int>(lists.size()), 0};
    lists.insert(lists.end(), items.begin(), items.end());
    range.end = static_cast<int>(lists.size());
    return range;
  };
  for (const StepOp &op : graph.ops) {
    Op flat;
    flat.operands = add(op.operands);
    flat.results = add(op.results);
    flat.changes = add(op.changes);
    flat.inPlace.begin = static_cast<int>(pairs.size());
    pairs.insert(pairs.end(), op.inPlace.begin(), op.inPlace.end());
    flat.inPlace.end = static_cast<int>(pairs.size());
    flat.seconds = op.seconds;
    flat.workspace = alignedBytes(op.workspace);
    flat.backward = op.backward;
    ops.push_back(flat);
    lasting.push_back(std::any_of(op.results.begin(), op.results.end(),
                                  [&](int result) { return untilEnd[result]; }));
  }
}

void Schedule::clear() {
  for (std::vector<int> *list : {&opAt, &reads, &madeFrom, &valueOf, &lastReads})
    list->clear();
  readsFrom.assign(1, 0);
  again.clear();
  readsChanged = false;
}

int Schedule::append(const FlatGraph &graph, int op, bool isAgain,
                     const std::vector<int> &current) {
  const FlatGraph::Op &made = graph.ops[op];
  int place = size();
  opAt.push_back(op);
  again.push_back(isAgain);
  size_t read = reads.size();
  reads.resize(read + (made.operands.end - made.operands.begin));
  for (int i = made.operands.begin; i < made.operands.end; ++i, ++read) {
    int value = graph.lists[i];
    int instance = graph.producer[value] < 0 ? -1 : current[value];
    reads[read] = instance;
    if (instance >= 0)
      lastReads[instance] = place;
  }
  readsFrom.push_back(static_cast<int>(read));
  madeFrom.push_back(instances());
  for (int i = made.results.begin; i < made.results.end; ++i) {
    valueOf.push_back(graph.lists[i]);
    lastReads.push_back(-1);
  }
  return madeFrom.back();
}

Schedule plainSchedule(const FlatGraph &graph) {
  Schedule schedule;
  std::vector<int> current(graph.bytes.size(), -1);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    int instance = schedule.append(graph, static_cast<int>(i), false, current);
    for (int value : graph.list(graph.ops[i].results))
      current[value] = instance++;
  }
  return schedule;
}

// Returns a storage that dies at this op and that the result may be written over, or -1. The op may
// read the storage through several operands; each of them must allow it.
int Lives::findOverwritten(const FlatGraph &graph, const FlatGraph::Op &op,
                           std::span<const int> operands, int result, int64_t bytes,
                           int place) const {
  auto begin = graph.pairs.begin() + op.inPlace.begin, end = graph.pairs.begin() + op.inPlace.end;
  for (auto pair = begin; pair != end; ++pair) {
    auto [over, target] = *pair;
    if (target != result || operands[over] < 0)
      continue;
    int candidate = storage[operands[over]];
    if (all[candidate].last != place || all[candidate].bytes != bytes ||
        std::find(taken.begin(), taken.end(), candidate) != taken.end())
      continue;
    bool allowed = true;
    for (size_t other = 0; other < operands.size() && allowed; ++other)
      if (operands[other] >= 0 && storage[operands[other]] == candidate)
        allowed = std::find(begin, end, std::pair<int, int>(other, result)) != end;
    if (allowed)
      return candidate;
  }
  return -1;
}

void Lives::analyse(const FlatGraph &graph, const Schedule &schedule, bool inPlace) {
  int end = schedule.size();
  all.clear();
  storage.resize(schedule.instances());
  total = again = 0;
  for (int place = 0; place < end; ++place) {
    const FlatGraph::Op &op = graph.ops[schedule.op(place)];
    total += op.seconds;
    if (schedule.recomputed(place))
      again += op.seconds;
    taken.clear();
    int first = schedule.firstResult(place);
    int results = op.results.end - op.results.begin;
    // A value that must last to the end of the step lasts as its original instance.
    bool mayLast = graph.lasting[schedule.op(place)] && !schedule.recomputed(place);
    auto lastUse = [&](int instance) {
      return mayLast && graph.untilEnd[schedule.value(instance)] ? end
                                                                 : schedule.lastRead(instance);
    };
    bool mayOverwrite = inPlace && op.inPlace.begin != op.inPlace.end;
    for (int r = 0; r < results; ++r) {
      int64_t bytes = graph.bytes[graph.lists[op.results.begin + r]];
      int over =
          mayOverwrite ? findOverwritten(graph, op, schedule.operands(place), r, bytes, place) : -1;
      if (over >= 0) {
        taken.push_back(over);
        storage[first + r] = over;
      } else {
        storage[first + r] = static_cast<int>(all.size());
        all.push_back({place, std::max(place, lastUse(first + r)), bytes, first + r});
      }
    }
    // Storages that results took over live on. This is noted only now: until here, their old last
    // use told that they die at this op.
    for (int r = 0; r < results; ++r) {
      int &last = all[storage[first + r]].last;
      last = std::max({last, place, lastUse(first + r)});
    }
    if (op.workspace > 0)
      all.push_back({place, place, op.workspace, -1});
  }
  // Each life adds its bytes at its first place and takes them away behind its last; the running
  // sum is what is alive.
  sum.assign(end + 2, 0);
  for (const StorageLife &life : all) {
    sum[life.first] += life.bytes;
    sum[std::min(life.last, end) + 1] -= life.bytes;
  }
  sum.pop_back();
  peakPlace = 0;
  for (int place = 0; place <= end; ++place) {
    if (place > 0)
      sum[place] += sum[place - 1];
    if (sum[place] > sum[peakPlace])
      peakPlace = place;
  }
}

} // namespace gc
