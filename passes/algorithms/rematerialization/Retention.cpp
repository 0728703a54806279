#include "passes/algorithms/rematerialization/Retention.h"

#include <algorithm>
#include <numeric>

namespace gc {

bool canDrop(const StepGraph &graph, int value) {
  const StepValue &v = graph.values[value];
  return v.producer >= 0 && !v.untilEnd && !graph.ops[v.producer].backward &&
         graph.ops[v.producer].repeatable;
}

std::vector<int> savedValues(const StepGraph &graph) {
  std::vector<char> used(graph.values.size(), 0);
  for (const StepOp &op : graph.ops)
    if (op.backward)
      for (int operand : op.operands)
        used[operand] = 1;
  std::vector<int> saved;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (used[v] && canDrop(graph, static_cast<int>(v)))
      saved.push_back(static_cast<int>(v));
  return saved;
}

std::vector<int> decidableValues(const StepGraph &graph) {
  std::vector<int64_t> sizes; // of what is saved
  for (int value : savedValues(graph))
    sizes.push_back(graph.values[value].bytes);
  std::sort(sizes.begin(), sizes.end());
  int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  // The smallest that counts: a 4096th of all, or less where many equal ones are as small.
  int64_t least = total / 4096, below = 0;
  for (int64_t bytes : sizes) {
    below += bytes;
    if (below > total / 1000) {
      least = std::min(least, bytes);
      break;
    }
  }
  std::vector<int> decidable;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (canDrop(graph, static_cast<int>(v)) && graph.values[v].bytes >= least)
      decidable.push_back(static_cast<int>(v));
  return decidable;
}

std::vector<Retention> retainSaved(const StepGraph &graph) {
  std::vector<Retention> retention(graph.values.size(), Retention::Keep);
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (canDrop(graph, static_cast<int>(v)))
      retention[v] = Retention::Drop;
  for (int value : savedValues(graph))
    retention[value] = Retention::Keep;
  return retention;
}

std::vector<Retention> retentionOf(const StepGraph &graph, const Schedule &schedule) {
  std::vector<Retention> retention = retainSaved(graph);
  std::vector<int> made(graph.values.size(), 0);
  for (int i = 0; i < schedule.instances(); ++i)
    ++made[schedule.value(i)];
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (made[v] > 1)
      retention[v] = made[v] > 2 ? Retention::Forget : Retention::Drop;
  return retention;
}

Scheduler::Scheduler(const StepGraph &graph) : graph(graph), droppable(graph.values.size()) {
  for (size_t v = 0; v < graph.values.size(); ++v)
    droppable[v] = canDrop(graph, static_cast<int>(v));
  instance.assign(graph.values.size(), -1);
  isOriginal.assign(graph.values.size(), 0);
  changed.assign(graph.values.size(), 0);
  for (; forward < static_cast<int>(graph.ops.size()) && !graph.ops[forward].backward; ++forward)
    run(forward);
  forwardSchedule = schedule;
  forwardInstance = instance;
  forwardOriginal = isOriginal;
  forwardChanged = changed;
}

const Schedule &Scheduler::build(const std::vector<Retention> &retention) {
  decisions = &retention;
  schedule = forwardSchedule;
  instance = forwardInstance;
  isOriginal = forwardOriginal;
  changed = forwardChanged;
  for (int i = forward; i < static_cast<int>(graph.ops.size()); ++i)
    run(i);
  return schedule;
}

void Scheduler::run(int index) {
  const FlatGraph::Op &op = graph.ops[index];
  forgetAfter.clear();
  if (op.backward)
    for (int value : graph.list(op.operands))
      require(value);
  execute(index, false);
  for (int value : graph.list(op.changes))
    changed[value] = 1;
  for (int value : forgetAfter)
    instance[value] = -1;
}

// Whether a backward op may read the value now: it is persistent, it was recomputed, its original
// is kept, or it cannot be recomputed at all, so that its original stays as long as it is needed.
bool Scheduler::available(int value) const {
  if (graph.producer[value] < 0)
    return true;
  if (instance[value] < 0)
    return false;
  return !droppable[value] || !isOriginal[value] || (*decisions)[value] == Retention::Keep;
}

void Scheduler::require(int value) {
  if (available(value))
    return;
  const FlatGraph::Op &producer = graph.ops[graph.producer[value]];
  for (int operand : graph.list(producer.operands))
    require(operand);
  execute(graph.producer[value], true);
  // Running the producer made all of its results again. Those with the decision Forget are dropped
  // when the op that needed this value has run.
  for (int result : graph.list(producer.results))
    if ((*decisions)[result] == Retention::Forget)
      forgetAfter.push_back(result);
}

void Scheduler::execute(int op, bool again) {
  if (again)
    for (int value : graph.list(graph.ops[op].operands))
      if (changed[value])
        schedule.invalidate();
  int made = schedule.append(graph, op, again, instance);
  for (int value : graph.list(graph.ops[op].results)) {
    // The op may have made another result again that is still available: readers stay with that
    // one.
    if (!again || !available(value)) {
      instance[value] = made;
      isOriginal[value] = !again;
    }
    ++made;
  }
}

Schedule holdWhereItFits(const FlatGraph &graph, const Schedule &schedule,
                         std::vector<int64_t> live, int64_t limit) {
  // `standsFor`: for each instance of the schedule, the instance that is read in its place (itself,
  // unless its recomputation is taken out). For each value, `atHand` is the instance that would be
  // read now and `needed` is the last place so far at which an op used the value; -1: none yet.
  std::vector<int> standsFor(schedule.instances());
  std::vector<int> atHand(graph.bytes.size(), -1), needed(graph.bytes.size(), -1);

  // The first place at which holding a value costs bytes that are not counted yet: the place behind
  // its last use, or that use itself where its op may have written a result over the value.
  auto heldFrom = [&](int value) {
    int place = needed[value];
    const FlatGraph::Op &op = graph.ops[schedule.op(place)];
    for (int i = op.inPlace.begin; i < op.inPlace.end; ++i)
      if (graph.lists[op.operands.begin + graph.pairs[i].first] == value)
        return place;
    return place + 1;
  };
  auto fits = [&](int value, int place) {
    auto begin = live.begin() + heldFrom(value), end = live.begin() + place;
    return begin >= end || *std::max_element(begin, end) + graph.bytes[value] <= limit;
  };
  auto addLive = [&](int value, int place, int64_t bytes) {
    for (int at = heldFrom(value); at < place; ++at)
      live[at] += bytes;
  };
  std::vector<char> runs(schedule.size(), 1);
  std::vector<int> holding; // values
  for (int place = 0; place < schedule.size(); ++place) {
    std::span<const int> results = graph.list(graph.ops[schedule.op(place)].results);
    int first = schedule.firstResult(place);
    for (int operand : schedule.operands(place))
      if (operand >= 0)
        needed[schedule.value(operand)] = std::max(needed[schedule.value(operand)], place);
    // A recomputation is taken out only if every result of it that is read can be held instead.
    bool held = schedule.recomputed(place);
    holding.clear();
    for (size_t r = 0; r < results.size() && held; ++r)
      if (schedule.lastRead(first + static_cast<int>(r)) >= 0) {
        held = atHand[results[r]] >= 0 && fits(results[r], place);
        if (held) {
          addLive(results[r], place, graph.bytes[results[r]]);
          holding.push_back(results[r]);
        }
      }
    if (!held)
      for (int value : holding)
        addLive(value, place, -graph.bytes[value]);
    for (size_t r = 0; r < results.size(); ++r) {
      int value = results[r];
      standsFor[first + r] = held ? atHand[value] : first + static_cast<int>(r);
      // Nobody reads this recomputed result: the instance at hand remains the older one.
      if (schedule.recomputed(place) && schedule.lastRead(first + static_cast<int>(r)) < 0)
        continue;
      atHand[value] = standsFor[first + r];
      needed[value] = std::max(needed[value], place);
    }
    runs[place] = !held;
  }
  // Recomputations whose only readers were taken out are taken out too, from the end backwards.
  std::vector<char> read(schedule.instances(), 0);
  for (int place = schedule.size() - 1; place >= 0; --place) {
    if (runs[place] && schedule.recomputed(place)) {
      runs[place] = 0;
      int results =
          graph.ops[schedule.op(place)].results.end - graph.ops[schedule.op(place)].results.begin;
      for (int r = 0; r < results; ++r)
        runs[place] |= read[schedule.firstResult(place) + r];
    }
    if (runs[place])
      for (int operand : schedule.operands(place))
        if (operand >= 0)
          read[standsFor[operand]] = 1;
  }
  Schedule result;
  std::vector<int> now(schedule.instances(), -1), current(graph.bytes.size(), -1);
  for (int place = 0; place < schedule.size(); ++place) {
    if (!runs[place])
      continue;
    std::span<const int> operands = schedule.operands(place);
    std::span<const int> values = graph.list(graph.ops[schedule.op(place)].operands);
    for (size_t o = 0; o < operands.size(); ++o)
      if (operands[o] >= 0)
        current[values[o]] = now[standsFor[operands[o]]];
    int made = result.append(graph, schedule.op(place), schedule.recomputed(place), current);
    int results =
        graph.ops[schedule.op(place)].results.end - graph.ops[schedule.op(place)].results.begin;
    for (int r = 0; r < results; ++r)
      now[schedule.firstResult(place) + r] = made + r;
  }
  return result;
}

} // namespace gc
