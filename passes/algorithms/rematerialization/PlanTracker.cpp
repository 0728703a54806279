#include "passes/algorithms/rematerialization/PlanTracker.h"

#include <algorithm>
#include <limits>

namespace gc {

PlanTracker::PlanTracker(const StepGraph &graph, const std::vector<Retention> &retention)
    : graph(graph), flat(graph), places(static_cast<int>(graph.ops.size())),
      firstBackward(firstBackwardOp(graph)), decisions(retention),
      forwardReaders(graph.values.size()), backwardReaders(graph.values.size()),
      deadline(places, std::numeric_limits<int>::max()), moments(places), runs(places),
      lives(graph.values.size()), group(places, 0), lastInGroup(graph.values.size(), never),
      isOpenOp(places, 0), isOpenValue(graph.values.size(), 0), isOpenGroup(places, 0) {
  std::vector<int> changedAt(graph.values.size(), std::numeric_limits<int>::max());
  for (int i = places - 1; i >= 0; --i)
    for (int value : graph.ops[i].changes)
      changedAt[value] = i;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!canDrop(graph, static_cast<int>(v)))
      decisions[v] = Retention::Keep;
    if (graph.values[v].untilEnd)
      atEnd += flat.bytes[v];
  }
  for (int i = 0; i < places; ++i)
    for (int value : graph.ops[i].operands) {
      deadline[i] = std::min(deadline[i], changedAt[value]);
      std::vector<int> &readers = (i >= firstBackward ? backwardReaders : forwardReaders)[value];
      if (readers.empty() || readers.back() != i)
        readers.push_back(i);
    }
  profile.emplace(std::vector<int64_t>(places, 0));
  // Everything is touched once.
  for (int i = 0; i < places; ++i) {
    isOpenOp[i] = isOpenGroup[i] = 1;
    openOps.push_back(i);
    openGroups.push_back(i);
  }
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].producer >= 0) {
      isOpenValue[v] = 1;
      openValues.push_back(static_cast<int>(v));
    }
  settle();
  mark();
}

void PlanTracker::mark() {
  log.clear();
  momentsUsed = 0;
}

void PlanTracker::decide(int value, Retention retention) {
  if (decisions[value] == retention)
    return;
  log.push_back({Undo::Decision, value, static_cast<int64_t>(decisions[value])});
  decisions[value] = retention;
  int producer = graph.values[value].producer;
  // Its producer may go on to run at the same moments, for another result.
  for (int at : moments[producer])
    touchGroup(at);
  if (!isOpenOp[producer]) {
    isOpenOp[producer] = 1;
    openOps.push_back(producer);
  }
  if (!isOpenValue[value]) {
    isOpenValue[value] = 1;
    openValues.push_back(value);
  }
}

// The first moment at which a value that is not kept is needed; `never`.
int PlanTracker::firstNeed(int value) const {
  int first = backwardReaders[value].empty() ? never : backwardReaders[value].front();
  for (const std::vector<int> *readers : {&forwardReaders[value], &backwardReaders[value]})
    for (int reader : *readers)
      if (!moments[reader].empty() && (first == never || moments[reader].front() < first))
        first = moments[reader].front();
  return first;
}

bool PlanTracker::waitsAt(int value, int moment) const {
  auto spans = [&](const Life &life) {
    return life.first != never && momentOf(life.first) < moment && moment <= momentOf(life.last);
  };
  return spans(lives[value].original) || spans(lives[value].again);
}

// When the op must run again, for all of its results that are not kept.
void PlanTracker::findMoments(int op, MomentList &found) const {
  found.clear();
  for (int result : graph.ops[op].results) {
    if (isKept(result))
      continue;
    if (!isForgotten(result)) {
      if (int first = firstNeed(result); first != never)
        found.push_back(first);
      continue;
    }
    found.insert(found.end(), backwardReaders[result].begin(), backwardReaders[result].end());
    for (const std::vector<int> *readers : {&forwardReaders[result], &backwardReaders[result]})
      for (int reader : *readers)
        found.insert(found.end(), moments[reader].begin(), moments[reader].end());
  }
  if (found.size() > 1) {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
}

void PlanTracker::touchGroup(int at) {
  if (isOpenGroup[at])
    return;
  isOpenGroup[at] = 1;
  openGroups.push_back(at);
}

void PlanTracker::setMoments(int op, const MomentList &to) {
  for (int from : moments[op])
    if (!std::binary_search(to.begin(), to.end(), from)) {
      std::erase(runs[from], op);
      touchGroup(from);
      again -= graph.ops[op].seconds;
      late -= from > deadline[op];
    }
  for (int at : to)
    if (!std::binary_search(moments[op].begin(), moments[op].end(), at)) {
      runs[at].insert(std::lower_bound(runs[at].begin(), runs[at].end(), op), op);
      touchGroup(at);
      again += graph.ops[op].seconds;
      late += at > deadline[op];
    }
  moments[op] = to;
}

// Of a forgotten value only the original's: each instance that comes back lives within one moment.
PlanTracker::Lives PlanTracker::livesOf(int value) const {
  int producer = graph.values[value].producer;
  Lives result;
  result.original.first = result.original.last = timeOf(producer, places);
  auto stretch = [](Life &life, Time to) { life.last = std::max(life.last, to); };
  for (int reader : forwardReaders[value])
    stretch(result.original, timeOf(reader, places));
  if (graph.values[value].untilEnd)
    result.original.last = timeOf(places, 0);
  if (isForgotten(value))
    return result;
  Life *later = &result.original;
  if (!isKept(value)) {
    int first = firstNeed(value);
    if (first == never)
      return result;
    result.again.first = result.again.last = timeOf(first, producer);
    later = &result.again;
  }
  for (const std::vector<int> *readers : {&forwardReaders[value], &backwardReaders[value]})
    for (int reader : *readers)
      if (!moments[reader].empty())
        stretch(*later, timeOf(moments[reader].back(), reader));
  if (!backwardReaders[value].empty())
    stretch(*later, timeOf(backwardReaders[value].back(), places));
  return result;
}

// What lives before a moment and behind it.
void PlanTracker::addAcross(const Life &life, int64_t bytes) {
  if (life.first != never)
    profile->add(momentOf(life.first) + 1, std::min(places, momentOf(life.last)), bytes);
}

void PlanTracker::setLives(int value, const Lives &to) {
  Lives &now = lives[value];
  auto change = [&](const Life &before, const Life &after) {
    if (before == after)
      return;
    if (before.first == after.first) {
      // Only the end has moved.
      int from = std::min(places, momentOf(before.last)),
          to = std::min(places, momentOf(after.last));
      int begin = momentOf(before.first) + 1;
      profile->add(std::max(begin, from), to, flat.bytes[value]);
      profile->add(std::max(begin, to), from, -flat.bytes[value]);
    } else {
      addAcross(before, -flat.bytes[value]);
      addAcross(after, flat.bytes[value]);
    }
    for (Time time : {before.first, before.last, after.first, after.last})
      if (time != never && momentOf(time) < places)
        touchGroup(momentOf(time));
  };
  change(now.original, to.original);
  change(now.again, to.again);
  now = to;
}

template <typename Visit> void PlanTracker::forEachRun(int at, Visit visit) const {
  for (int op : runs[at])
    visit(op, timeOf(at, op));
  visit(at, timeOf(at, places));
}

// Whether the instance that an op reads now is read last by it. `isLate`: in or behind the first
// backward op, where values that are not kept have come back.
bool PlanTracker::diesAt(int value, Time now, bool isLate) const {
  if (isLate && isForgotten(value))
    return lastInGroup[value] == now;
  return lives[value].original.last == now || lives[value].again.last == now;
}

// Bytes that an op's results do not need, because they are written over operands that die at it.
int64_t PlanTracker::writtenOver(const FlatGraph::Op &op, Time now, bool isLate) const {
  int64_t saved = 0;
  auto begin = flat.pairs.begin() + op.inPlace.begin, end = flat.pairs.begin() + op.inPlace.end;
  std::span<const int> operands = flat.list(op.operands), results = flat.list(op.results);
  std::vector<int> taken; // stays empty, and so allocates nothing, for ops with one result
  for (size_t r = 0; r < results.size(); ++r)
    for (auto pair = begin; pair != end; ++pair) {
      auto [over, target] = *pair;
      int value = operands[over];
      if (target != static_cast<int>(r) || flat.producer[value] < 0 ||
          flat.bytes[value] != flat.bytes[results[r]] || !diesAt(value, now, isLate) ||
          std::find(taken.begin(), taken.end(), value) != taken.end())
        continue;
      bool allowed = true;
      for (size_t other = 0; other < operands.size() && allowed; ++other)
        if (operands[other] == value)
          allowed = std::find(begin, end, std::pair<int, int>(other, r)) != end;
      if (!allowed)
        continue;
      saved += flat.bytes[value];
      if (results.size() > 1)
        taken.push_back(value);
      break;
    }
  return saved;
}

// The most bytes, at one op of the moment, of what begins or ends in it.
int64_t PlanTracker::groupPeak(int at) {
  Time begin = timeOf(at, 0);
  bool isLate = at >= firstBackward;
  int64_t live = 0; // of what began before and ends here
  // Visits each value that the op reads, once.
  auto forEachRead = [&](int index, auto visit) {
    std::span<const int> operands = flat.list(flat.ops[index].operands);
    for (auto operand = operands.begin(); operand != operands.end(); ++operand)
      if (flat.producer[*operand] >= 0 && std::find(operands.begin(), operand, *operand) == operand)
        visit(*operand);
  };
  forEachRun(at, [&](int index, Time now) {
    forEachRead(index, [&](int value) {
      if (isLate && isForgotten(value)) {
        lastInGroup[value] = now;
        return;
      }
      for (const Life &life : {lives[value].original, lives[value].again})
        if (life.last == now && life.first < begin)
          live += flat.bytes[value];
    });
    for (int value : flat.list(flat.ops[index].results))
      lastInGroup[value] = never;
  });
  int64_t most = 0;
  forEachRun(at, [&](int index, Time now) {
    const FlatGraph::Op &op = flat.ops[index];
    bool isAgain = now != timeOf(at, places);
    int64_t dying = 0;
    for (int value : flat.list(op.results)) {
      live += flat.bytes[value];
      // A result that is made again and that nobody reads dies at once.
      const Life &life = isAgain ? lives[value].again : lives[value].original;
      bool isRead = isAgain && isForgotten(value) ? lastInGroup[value] > now
                                                  : life.first == now && life.last > now;
      if (!isRead)
        dying += flat.bytes[value];
    }
    int64_t own = op.workspace;
    if (op.inPlace.begin != op.inPlace.end)
      own -= writtenOver(op, now, isLate);
    most = std::max(most, live + own);
    forEachRead(index, [&](int value) {
      if (diesAt(value, now, isLate))
        dying += flat.bytes[value];
    });
    live -= dying;
  });
  return most;
}

// From the last op to the first, as an op's moment depends on its readers'.
void PlanTracker::settleRuns() {
  std::make_heap(openOps.begin(), openOps.end());
  auto open = [](std::vector<int> &list, std::vector<char> &isOpen, int item) {
    if (isOpen[item])
      return false;
    isOpen[item] = 1;
    list.push_back(item);
    return true;
  };
  while (!openOps.empty()) {
    std::pop_heap(openOps.begin(), openOps.end());
    int op = openOps.back();
    openOps.pop_back();
    isOpenOp[op] = 0;
    findMoments(op, wanted);
    if (wanted == moments[op])
      continue;
    log.push_back({Undo::Moments, op, static_cast<int64_t>(momentsUsed)});
    if (momentsUsed == momentsBefore.size())
      momentsBefore.emplace_back();
    momentsBefore[momentsUsed++] = moments[op];
    setMoments(op, wanted);
    for (int result : graph.ops[op].results)
      open(openValues, isOpenValue, result);
    for (int operand : graph.ops[op].operands) {
      int producer = graph.values[operand].producer;
      if (producer < 0)
        continue;
      open(openValues, isOpenValue, operand);
      if (!isKept(operand) && open(openOps, isOpenOp, producer))
        std::push_heap(openOps.begin(), openOps.end());
    }
  }
}

// First when ops run again; then lives; then what meets in a moment.
void PlanTracker::settle() {
  settleRuns();
  for (int value : openValues) {
    isOpenValue[value] = 0;
    Lives now = livesOf(value);
    if (now == lives[value])
      continue;
    log.push_back({Undo::ValueLives, value, 0, lives[value]});
    setLives(value, now);
  }
  openValues.clear();
  for (int at : openGroups) {
    isOpenGroup[at] = 0;
    int64_t now = groupPeak(at);
    if (now == group[at])
      continue;
    log.push_back({Undo::Group, at, group[at]});
    profile->add(at, at + 1, now - group[at]);
    group[at] = now;
  }
  openGroups.clear();
}

void PlanTracker::undo() {
  for (; !log.empty(); log.pop_back()) {
    const Undo &entry = log.back();
    switch (entry.kind) {
    case Undo::Decision:
      decisions[entry.index] = static_cast<Retention>(entry.before);
      break;
    case Undo::Moments:
      setMoments(entry.index, momentsBefore[entry.before]);
      break;
    case Undo::ValueLives:
      setLives(entry.index, entry.lives);
      break;
    case Undo::Group:
      profile->add(entry.index, entry.index + 1, entry.before - group[entry.index]);
      group[entry.index] = entry.before;
      break;
    }
  }
  // All lives and the sums of all groups are those of before.
  for (int value : openValues)
    isOpenValue[value] = 0;
  openValues.clear();
  for (int at : openGroups)
    isOpenGroup[at] = 0;
  openGroups.clear();
  mark();
}

Schedule PlanTracker::schedule() const {
  Schedule result;
  std::vector<int> current(decisions.size(), -1);
  for (int at = 0; at < places; ++at)
    forEachRun(at, [&](int index, Time now) {
      bool isAgain = now != timeOf(at, places);
      int made = result.append(flat, index, isAgain, current);
      for (int value : flat.list(flat.ops[index].results)) {
        // An instance of a dropped value that comes back too early serves nobody.
        if (!isAgain || isForgotten(value) || lives[value].again.first == now)
          current[value] = made;
        ++made;
      }
    });
  if (!valid())
    result.invalidate();
  return result;
}

} // namespace gc
