#include "runtime/report/PlanDiff.h"

#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace gc::runtime {

double DescribedPlan::secondsPaid(const SavedValue &value) const {
  return value.seconds * (static_cast<double>(value.executions) - 1) *
         static_cast<double>(facts.microBatches);
}

double DescribedPlan::secondsPaid(const std::vector<SavedValue> &values) const {
  std::set<int64_t> counted;
  double seconds = 0;
  for (const SavedValue &value : values)
    if (counted.insert(value.op).second)
      seconds += secondsPaid(value);
  return seconds;
}

std::optional<double> DescribedPlan::samplesPerSecond() const {
  if (!facts.prediction.stepSeconds || *facts.prediction.stepSeconds <= 0)
    return std::nullopt;
  return static_cast<double>(facts.batch) / *facts.prediction.stepSeconds;
}

//===----------------------------------------------------------------------===//
// What is the same in both
//===----------------------------------------------------------------------===//

std::string nameToMatch(const std::string &opName) {
  size_t at = opName.find('@'), colon = opName.rfind(':');
  bool isPlace = at != std::string::npos && colon != std::string::npos && colon > at &&
                 colon + 1 < opName.size() &&
                 std::all_of(opName.begin() + static_cast<std::ptrdiff_t>(colon) + 1, opName.end(),
                             [](unsigned char c) { return std::isdigit(c); });
  return isPlace ? opName.substr(0, at) + "@" + opName.substr(colon) : opName;
}

std::vector<std::pair<size_t, size_t>> pairsByKey(const std::vector<std::string> &a,
                                                  const std::vector<std::string> &b) {
  std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> places;
  for (size_t i = 0; i < a.size(); ++i)
    places[a[i]].first.push_back(i);
  for (size_t i = 0; i < b.size(); ++i)
    places[b[i]].second.push_back(i);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const auto &[key, both] : places)
    if (both.first.size() == both.second.size())
      for (size_t i = 0; i < both.first.size(); ++i)
        pairs.push_back({both.first[i], both.second[i]});
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

static uint64_t bytesOf(const std::vector<SavedValue> &values) {
  uint64_t bytes = 0;
  for (const SavedValue &value : values)
    bytes += value.bytes;
  return bytes;
}

bool ComparedValue::runsAgainAlike() const {
  auto again = [](const std::vector<SavedValue> &parts) {
    uint64_t times = 0;
    for (const SavedValue &part : parts)
      times += static_cast<uint64_t>(part.executions - 1);
    return times;
  };
  return again(partsA) * partsB.size() == again(partsB) * partsA.size();
}

bool haveEqualTotals(const std::vector<SavedValue> &a, const std::vector<SavedValue> &b) {
  uint64_t inA = bytesOf(a), inB = bytesOf(b);
  return std::max(inA, inB) - std::min(inA, inB) < 64 * std::max(a.size(), b.size());
}

namespace {

template <class Item, class Key>
std::vector<std::string> keysOf(const std::vector<Item> &items, Key key) {
  std::vector<std::string> keys;
  for (const Item &item : items)
    keys.push_back(key(item));
  return keys;
}

std::string keyOf(const SavedValue &value) {
  return fmt::format("{} {}", nameToMatch(value.name), value.result);
}

std::string orNone(const std::string &text) { return text.empty() ? "none" : text; }

const char *yesOrNo(bool yes) { return yes ? "yes" : "no"; }

std::string budgetText(const RematReport &remat) {
  if (remat.budgetBytes)
    return sizeText(*remat.budgetBytes);
  return remat.policy == "none" ? "none" : "none but the policy " + remat.policy;
}

std::string splitText(const SplitReport &split) {
  return split.parts < 2 ? "none" : fmt::format("{}:{}", split.parts, split.chains);
}

/// What a plan was compiled for; the order is that in which people are told.
std::vector<ComparedSetting> settingsOf(const DescribedPlan &a, const DescribedPlan &b) {
  std::vector<ComparedSetting> settings;
  auto add = [&](const char *name, auto text) { settings.push_back({name, text(a), text(b)}); };
  using P = const DescribedPlan &;
  add("model", [](P p) { return p.facts.model + " of " + parametersText(p.facts); });
  add("device", [](P p) { return p.facts.device + (p.machine.empty() ? "" : " " + p.machine); });
  add("library", [](P p) { return orNone(p.library); });
  add("threads", [](P p) { return p.threads ? std::to_string(p.threads) : "any"; });
  add("precision", [](P p) { return orNone(p.types); });
  add("batch", [](P p) { return std::to_string(p.facts.batch); });
  add("optimizer", [](P p) { return orNone(p.facts.optimizer); });
  add("budget", [](P p) { return budgetText(p.facts.remat); });
  add("micro-batches", [](P p) { return std::to_string(p.facts.microBatches); });
  add("split", [](P p) { return splitText(p.facts.split); });
  add("input buffers", [](P p) { return std::to_string(p.inputBuffers); });
  add("inference", [](P p) { return yesOrNo(p.evaluates); });
  add("kept gradients", [](P p) { return yesOrNo(p.keepsGradients); });
  add("rates", [](P p) { return orNone(p.facts.prediction.ratesFrom); });
  return settings;
}

double number(uint64_t count) { return static_cast<double>(count); }

std::vector<ComparedFigure> figuresOf(const DescribedPlan &a, const DescribedPlan &b) {
  using Unit = ComparedFigure::Unit;
  std::vector<ComparedFigure> figures;
  auto add = [&](const char *key, const char *label, Unit unit, auto value) {
    figures.push_back({key, label, unit, value(a), value(b)});
  };
  using P = const DescribedPlan &;
  using Maybe = std::optional<double>;
  add("peak_bytes", "plan peak", Unit::Bytes,
      [](P p) -> Maybe { return number(p.facts.memory.arenaBytes); });
  add("lower_bound_bytes", "lower bound", Unit::Bytes,
      [](P p) -> Maybe { return number(p.facts.memory.planned.lower_bound); });
  add("step_seconds_predicted", "predicted step", Unit::Seconds,
      [](P p) -> Maybe { return p.facts.prediction.stepSeconds; });
  add("recompute_seconds_predicted", "of it recomputed", Unit::Seconds,
      [](P p) -> Maybe { return p.facts.remat.recomputeSecondsPredicted; });
  add("samples_per_second_predicted", "samples a second", Unit::PerSecond,
      [](P p) -> Maybe { return p.samplesPerSecond(); });
  add("saved_values", "saved values", Unit::Count,
      [](P p) -> Maybe { return number(p.facts.remat.retained + p.facts.remat.recomputed); });
  add("recomputed_values", "of them recomputed", Unit::Count,
      [](P p) -> Maybe { return number(p.facts.remat.recomputed); });
  add("commands", "commands in a step", Unit::Count,
      [](P p) -> Maybe { return number(p.commands.inStep()); });
  add("kernels", "generated kernels", Unit::Count, [](P p) -> Maybe { return number(p.kernels); });
  add("library_graphs", "library graphs", Unit::Count,
      [](P p) -> Maybe { return number(p.libraryGraphs); });
  add("plan_bytes", "size of the file", Unit::Bytes,
      [](P p) -> Maybe { return number(p.planBytes); });
  return figures;
}

std::vector<ComparedFigure> memoryOf(const DescribedPlan &a, const DescribedPlan &b) {
  std::vector<ComparedFigure> kinds;
  auto add = [&](const char *name, uint64_t(plan::MemoryT::*bytes)) {
    kinds.push_back({std::string(name) + "_bytes", name, ComparedFigure::Unit::Bytes,
                     number(a.facts.memory.planned.*bytes), number(b.facts.memory.planned.*bytes)});
  };
  add("weights", &plan::MemoryT::weights);
  add("gradients", &plan::MemoryT::gradients);
  add("optimizer", &plan::MemoryT::optimizer);
  add("activations", &plan::MemoryT::activations);
  add("workspace", &plan::MemoryT::workspace);
  add("input", &plan::MemoryT::input);
  add("fragmentation", &plan::MemoryT::fragmentation);
  return kinds;
}

//===----------------------------------------------------------------------===//
// Values, tensors at the peaks, ops
//===----------------------------------------------------------------------===//

uint64_t largest(const ComparedValue &value) { return std::max(value.a.bytes, value.b.bytes); }

void sortBySize(std::vector<ComparedValue> &values) {
  std::stable_sort(values.begin(), values.end(),
                   [](auto &x, auto &y) { return largest(x) > largest(y); });
}

SavedValue totalOf(const std::vector<SavedValue> &parts) {
  SavedValue total = parts.front();
  total.bytes = bytesOf(parts);
  total.seconds = 0;
  for (const SavedValue &part : parts) {
    total.seconds += part.seconds;
    total.kept &= part.kept;
    total.repeatable &= part.repeatable;
    total.atPeak |= part.atPeak;
    total.executions = std::max(total.executions, part.executions);
  }
  return total;
}

void addCompared(PlanDiff &diff, std::vector<SavedValue> partsA, std::vector<SavedValue> partsB) {
  SavedValue a = totalOf(partsA), b = totalOf(partsB);
  if (a.kept && b.kept) {
    ++diff.keptInBoth;
    diff.keptPartsA += partsA.size();
    diff.keptPartsB += partsB.size();
    return;
  }
  (a.kept   ? diff.recomputedInB
   : b.kept ? diff.recomputedInA
            : diff.recomputedInBoth)
      .push_back({a, b, std::move(partsA), std::move(partsB)});
}

/// What is there in another number of parts in each plan.
void compareParts(PlanDiff &diff, std::vector<char> &pairedA, std::vector<char> &pairedB) {
  const std::vector<SavedValue> &a = *diff.a.saved, &b = *diff.b.saved;
  std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> places;
  for (size_t i = 0; i < a.size(); ++i)
    if (!pairedA[i])
      places[keyOf(a[i])].first.push_back(i);
  for (size_t i = 0; i < b.size(); ++i)
    if (!pairedB[i])
      places[keyOf(b[i])].second.push_back(i);
  auto take = [](const std::vector<SavedValue> &values, const std::vector<size_t> &at) {
    std::vector<SavedValue> taken;
    for (size_t i : at)
      taken.push_back(values[i]);
    return taken;
  };
  for (const auto &[key, both] : places) {
    if (both.first.empty() || both.second.empty())
      continue;
    std::vector<SavedValue> partsA = take(a, both.first), partsB = take(b, both.second);
    if (!haveEqualTotals(partsA, partsB))
      continue;
    for (size_t i : both.first)
      pairedA[i] = 1;
    for (size_t i : both.second)
      pairedB[i] = 1;
    addCompared(diff, std::move(partsA), std::move(partsB));
  }
}

void compareValues(PlanDiff &diff) {
  const std::vector<SavedValue> &a = *diff.a.saved, &b = *diff.b.saved;
  std::vector<char> pairedA(a.size(), 0), pairedB(b.size(), 0);
  for (auto [i, j] : pairsByKey(keysOf(a, keyOf), keysOf(b, keyOf))) {
    pairedA[i] = pairedB[j] = 1;
    addCompared(diff, {a[i]}, {b[j]});
  }
  compareParts(diff, pairedA, pairedB);
  auto takeUnpaired = [](const std::vector<SavedValue> &values, const std::vector<char> &paired,
                         std::vector<SavedValue> &only) {
    for (size_t i = 0; i < values.size(); ++i)
      if (!paired[i])
        only.push_back(values[i]);
    std::stable_sort(only.begin(), only.end(), [](auto &x, auto &y) { return x.bytes > y.bytes; });
  };
  takeUnpaired(a, pairedA, diff.onlyInA);
  takeUnpaired(b, pairedB, diff.onlyInB);
  sortBySize(diff.recomputedInA);
  sortBySize(diff.recomputedInB);
  sortBySize(diff.recomputedInBoth);
  std::stable_sort(diff.recomputedInBoth.begin(), diff.recomputedInBoth.end(),
                   [&](auto &x, auto &y) { return x.runsAgainAlike() < y.runsAgainAlike(); });
}

std::string whyUnmatched(const PlanDiff &diff) {
  if (!diff.sameModel)
    return "these are plans of two models";
  std::vector<std::string> reasons;
  for (const ComparedSetting &setting : diff.settings)
    for (const char *name :
         {"device", "library", "precision", "batch", "optimizer", "micro-batches", "split"})
      if (setting.name == name && setting.differs())
        reasons.push_back(setting.name);
  return reasons.empty()
             ? "one of the models was changed"
             : fmt::format("what ops there are depends on {}", fmt::join(reasons, ", "));
}

std::vector<ComparedTensor> compareAlive(const StepTimeline &a, const StepTimeline &b) {
  // Several results of an op have one name.
  std::map<std::pair<std::string, std::string>, ComparedTensor> found;
  auto add = [&](const StepTimeline &step, uint64_t ComparedTensor::*side) {
    for (const AliveTensor &tensor : step.aliveAtPeak) {
      ComparedTensor &entry = found[{nameToMatch(tensor.name), tensor.kind}];
      if (entry.name.empty())
        entry.name = tensor.name;
      entry.kind = tensor.kind;
      entry.*side += tensor.bytes;
    }
  };
  add(a, &ComparedTensor::a);
  add(b, &ComparedTensor::b);
  std::vector<ComparedTensor> alive;
  for (auto &[key, entry] : found)
    alive.push_back(entry);
  auto distance = [](const ComparedTensor &t) { return std::max(t.a, t.b) - std::min(t.a, t.b); };
  std::stable_sort(alive.begin(), alive.end(), [&](auto &x, auto &y) {
    return distance(x) != distance(y) ? distance(x) > distance(y)
                                      : std::max(x.a, x.b) > std::max(y.a, y.b);
  });
  return alive;
}

std::vector<ComparedOp> compareOps(const DescribedPlan &a, const DescribedPlan &b) {
  auto name = [](const OpImplementation &op) { return nameToMatch(op.name); };
  std::vector<ComparedOp> different;
  for (auto [i, j] : pairsByKey(keysOf(a.ops, name), keysOf(b.ops, name)))
    if (a.ops[i].byLibrary != b.ops[j].byLibrary ||
        (a.ops[i].byLibrary && a.ops[i].how != b.ops[j].how))
      different.push_back({a.ops[i], b.ops[j]});
  std::stable_sort(different.begin(), different.end(), [](auto &x, auto &y) {
    return std::max(x.a.seconds, x.b.seconds) > std::max(y.a.seconds, y.b.seconds);
  });
  return different;
}

} // namespace

PlanDiff comparePlans(DescribedPlan a, DescribedPlan b) {
  PlanDiff diff;
  diff.a = std::move(a);
  diff.b = std::move(b);
  diff.identical = diff.a.executed == diff.b.executed;
  diff.sameModel = diff.a.facts.model == diff.b.facts.model &&
                   diff.a.facts.parameters == diff.b.facts.parameters;
  diff.settings = settingsOf(diff.a, diff.b);
  diff.figures = figuresOf(diff.a, diff.b);
  diff.memory = memoryOf(diff.a, diff.b);
  auto lacks = [&](auto told, const char *what) {
    for (auto [plan, name] : {std::pair(&diff.a, 'A'), std::pair(&diff.b, 'B')})
      if (!told(*plan))
        diff.notes.push_back(
            fmt::format("{} does not tell {}; compile it again to compare that", name, what));
  };
  lacks([](const DescribedPlan &p) { return p.saved.has_value(); },
        "what becomes of each saved value");
  lacks([](const DescribedPlan &p) { return p.timeline.has_value(); }, "what is alive at its peak");
  if (diff.a.saved && diff.b.saved)
    compareValues(diff);
  if (!diff.onlyInA.empty() || !diff.onlyInB.empty())
    diff.whyUnmatched = whyUnmatched(diff);
  if (diff.a.timeline && diff.b.timeline)
    diff.alive = compareAlive(diff.a.timeline->after, diff.b.timeline->after);
  diff.implementations = compareOps(diff.a, diff.b);
  return diff;
}

} // namespace gc::runtime
