//===- StepReport.cpp - what was decided, and why -------------------------===//
#include "compiler/StepReport.h"
#include "dialects/Gc.h"
#include "dialects/OpName.h"
#include "passes/MixedPrecision.h"
#include "passes/analysis/PeakFacts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace mlir;

namespace gc {

static std::string milliseconds(double seconds) {
  return llvm::formatv(seconds < 1e-3 ? "{0:F4} ms" : "{0:F2} ms", 1e3 * seconds);
}

namespace {

// An op that is recomputed, with all its executions counted together.
struct Repeated {
  int times = 0;
  double seconds = 0;
  int64_t bytes = 0; // of its results, once
};

llvm::MapVector<int, Repeated> repeatedOps(const StepGraph &graph, const Schedule &schedule) {
  llvm::MapVector<int, Repeated> repeated;
  for (int place = 0; place < schedule.size(); ++place) {
    if (!schedule.recomputed(place))
      continue;
    const StepOp &op = graph.ops[schedule.op(place)];
    Repeated &entry = repeated[schedule.op(place)];
    ++entry.times;
    entry.seconds += op.seconds;
    entry.bytes = 0;
    for (int result : op.results)
      entry.bytes += graph.values[result].bytes;
  }
  return repeated;
}

nlohmann::json timelineOf(const FunctionGraph &function, const RematPlan &plan,
                          int64_t persistent) {
  PeakFacts peak = peakOf(function, plan);
  nlohmann::json alive = nlohmann::json::array();
  for (const PeakFacts::Alive &entry : peak.alive)
    alive.push_back({{"name", entry.name}, {"kind", entry.kind}, {"bytes", entry.bytes}});
  for (int64_t &bytes : peak.live)
    bytes += persistent;
  return {{"peak_bytes", peak.bytes + persistent},
          {"peak_op", peak.op},
          {"live", peak.live},
          {"alive_at_peak", alive}};
}

// How often each value is made.
std::vector<int> timesMade(const StepGraph &graph, const Schedule &schedule) {
  std::vector<int> made(graph.values.size(), 0);
  for (int i = 0; i < schedule.instances(); ++i)
    ++made[schedule.value(i)];
  return made;
}

// Whether each value is alive where most is. What was written over an operand takes its place: of
// the two, the one that is still to be read counts.
std::vector<char> aliveAtPeak(const StepGraph &graph, const Schedule &schedule) {
  Lives lives;
  lives.analyse(FlatGraph(graph), schedule);
  int peak = lives.peakAt();
  std::vector<char> alive(graph.values.size(), 0);
  for (int place = 0; place < std::min(peak + 1, schedule.size()); ++place)
    for (size_t i = 0; i < graph.ops[schedule.op(place)].results.size(); ++i) {
      int instance = schedule.firstResult(place) + static_cast<int>(i);
      alive[schedule.value(instance)] |= place == peak || schedule.lastRead(instance) >= peak;
    }
  return alive;
}

// What becomes of each value that a step saves when nothing is recomputed, in program order. An op
// has the number that its commands carry.
nlohmann::json savedTable(const FunctionGraph &function, const Schedule &schedule,
                          const RematPlan &keepEverything) {
  const StepGraph &graph = function.graph;
  std::vector<int> made = timesMade(graph, schedule);
  std::vector<char> atPeak = aliveAtPeak(graph, scheduleOf(graph, keepEverything));
  nlohmann::json table = nlohmann::json::array();
  for (int value : savedValues(graph)) {
    int producer = graph.values[value].producer;
    const StepOp &op = graph.ops[producer];
    auto number = function.ops[producer]->getAttrOfType<IntegerAttr>("gc.op");
    table.push_back({{"op", number ? number.getInt() : -1},
                     {"name", displayName(function.ops[producer])},
                     {"result", llvm::find(op.results, value) - op.results.begin()},
                     {"bytes", graph.values[value].bytes},
                     {"kept", made[value] == 1},
                     {"executions", made[value]},
                     {"seconds", op.seconds},
                     {"repeatable", op.repeatable},
                     {"at_peak", atPeak[value] != 0}});
  }
  return table;
}

// A proven bound: no candidate has a plan within `budget` that takes less.
double lowestSeconds(const std::vector<StepCandidate> &candidates, int64_t budget) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const StepCandidate &candidate : candidates)
    lowest = std::min(lowest, candidate.plans.leastSeconds(budget));
  return lowest;
}

} // namespace

void reportDecision(const StepDecision &decision, const std::vector<StepCandidate> &candidates,
                    const CompileOptions &options, nlohmann::json &report) {
  const StepPlans &plans = candidates[decision.candidate].plans;
  const FunctionGraph &function = plans.function();
  Schedule schedule = scheduleOf(function.graph, decision.plan);
  nlohmann::json saved = savedTable(function, schedule, plans.keepEverything());
  int64_t retained =
      llvm::count_if(saved, [](const nlohmann::json &value) { return value["kept"].get<bool>(); });
  int64_t recomputed = static_cast<int64_t>(saved.size()) - retained;
  // The base is the step with as many micro-batches that recomputes nothing and never waits for
  // input.
  double base = plans.seconds(plans.keepEverything()) - plans.inputSeconds();
  double again = plans.recomputeSeconds(decision.plan);
  double seconds = plans.seconds(decision.plan);
  report["remat"] = {{"policy", options.budgetBytes ? "budget" : options.remat},
                     {"budget_bytes", options.budgetBytes},
                     {"retained", retained},
                     {"recomputed", recomputed},
                     {"recompute_seconds_predicted", again},
                     {"recompute_fraction", base > 0 ? again / base : 0.0}};
  if (options.budgetBytes && base > 0) {
    // What this plan may be slower by than the fastest of all candidates.
    double gap = std::max(
        0.0, seconds - lowestSeconds(candidates, static_cast<int64_t>(options.budgetBytes)));
    report["remat"]["time_lower_bound"] = again - gap;
    report["remat"]["gap"] = gap / base;
  }
  report["saved"] = std::move(saved);
  report["input_slots"] = plans.inputSlots();
  report["input_seconds_predicted"] = plans.inputSeconds();
  report["step_seconds_predicted"] = seconds;
  report["prediction"]["step_seconds"] = seconds;
  report["timeline"] = {
      {"persistent_bytes", plans.persistent()},
      {"before", timelineOf(function, plans.keepEverything(), plans.persistent())},
      {"after", timelineOf(function, decision.plan, plans.persistent())}};
}

void reportSplit(const StepSplit &split, const StepPlans &plans, const StepPlans &unsplit,
                 nlohmann::json &report) {
  nlohmann::json ops = nlohmann::json::array();
  for (auto &[first, last] : split.names)
    ops.push_back({first, last});
  report["split"] = {{"parts", split.parts}, {"chains", split.chains}, {"ops", ops}};
  auto base = [](const StepPlans &own) {
    return own.seconds(own.keepEverything()) - own.inputSeconds();
  };
  if (split.parts > 1 && &unsplit != &plans && base(unsplit) > 0)
    report["split"]["fraction_predicted"] = base(plans) / base(unsplit) - 1;
}

// The reason for a value to be f32 in a step of halves.
static std::string reasonForSingle(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto own = op->getAttrOfType<StringAttr>(kPrecisionAttr); own && own.getValue() == "f32")
    return "the model asks for it";
  auto rules = dyn_cast<PrecisionOpInterface>(op);
  if (rules && rules.staysSingle(value))
    return "statistics and sums are f32";
  return "only f32 is made of it";
}

// What is kept from the forward to the backward pass, by its type; and the largest of what is f32.
static void explainPrecision(const StepPlans &plans, const Schedule &schedule,
                             llvm::raw_ostream &out) {
  const FunctionGraph &function = plans.function();
  std::vector<int> made = timesMade(function.graph, schedule);
  llvm::MapVector<Type, int64_t> bytesOf;
  std::vector<std::pair<int64_t, Value>> singles;
  for (int number : savedValues(function.graph)) {
    const StepValue &saved = function.graph.values[number];
    const StepOp &op = function.graph.ops[saved.producer];
    unsigned result = llvm::find(op.results, number) - op.results.begin();
    Operation *producer = function.ops[saved.producer];
    if (made[number] != 1 || result >= producer->getNumResults())
      continue;
    Value value = producer->getResult(result);
    Type element = cast<ShapedType>(value.getType()).getElementType();
    bytesOf[element] += saved.bytes;
    if (element.isF32())
      singles.push_back({saved.bytes, value});
  }
  out << "kept for the backward pass:";
  for (auto &[element, bytes] : bytesOf)
    out << (element == bytesOf.front().first ? " " : ", ") << bytesText(bytes) << " in " << element;
  out << "; parameters, their gradients and optimizer state are f32\n";
  llvm::stable_sort(singles, [](auto &a, auto &b) { return a.first > b.first; });
  for (auto &[bytes, value] : ArrayRef(singles).take_front(5))
    out << "  " << bytesText(bytes) << " in f32  " << displayName(value.getDefiningOp()) << ": "
        << reasonForSingle(value) << "\n";
}

std::string explainDecision(const StepDecision &decision, std::vector<StepCandidate> &candidates,
                            const CompileOptions &options, const std::string &rejected) {
  std::string text;
  llvm::raw_string_ostream out(text);
  StepPlans &plans = candidates[decision.candidate].plans;
  const FunctionGraph &function = plans.function();
  double base = plans.seconds(plans.keepEverything());

  if (candidates.size() > 1 || !rejected.empty()) {
    out << "micro-batches: " << plans.microBatches() << ", input buffers: " << plans.inputSlots()
        << (options.budgetBytes ? ", the fastest by predicted time that fits\n"
                                : ", the fastest by predicted time\n");
    for (StepCandidate &candidate : candidates) {
      StepPlans &other = candidate.plans;
      out << llvm::formatv("  {0,3} {1,2}  ", other.microBatches(), other.inputSlots());
      if (candidate.split.parts > 1)
        out << candidate.split.parts << " parts of the batch in ops " << candidate.split.chains
            << ": ";
      const RematPlan *plan = options.budgetBytes
                                  ? other.fastest(static_cast<int64_t>(options.budgetBytes))
                                  : &other.keepEverything();
      if (plan)
        out << llvm::formatv("{0}, {1} of it recomputed, {2}\n", milliseconds(other.seconds(*plan)),
                             milliseconds(other.recomputeSeconds(*plan)),
                             bytesText(other.arenaBytes(*plan)));
      else
        out << "does not fit; its smallest plan needs "
            << bytesText(other.arenaBytes(other.smallest())) << "\n";
    }
    out << rejected;
  }

  Schedule schedule = scheduleOf(function.graph, decision.plan);
  llvm::MapVector<int, Repeated> repeated = repeatedOps(function.graph, schedule);
  PeakFacts before = peakOf(function, plans.keepEverything());
  PeakFacts after = peakOf(function, decision.plan);
  out << "without recomputation the peak is " << bytesText(before.bytes + plans.persistent())
      << ", at " << before.op << "\n";
  if (repeated.empty()) {
    out << "nothing is recomputed\n";
  } else {
    out << llvm::formatv("{0} ops run again, {1} or {2:F2} % of a step (no plan of these parts and "
                         "micro-batches can do with less than {3:F2} %)\n",
                         repeated.size(), milliseconds(plans.recomputeSeconds(decision.plan)),
                         100 * plans.recomputeSeconds(decision.plan) / base,
                         100 *
                             plans.recomputeBound(options.budgetBytes
                                                      ? static_cast<int64_t>(options.budgetBytes)
                                                      : plans.arenaBytes(decision.plan)) /
                             base);
    auto order = repeated.takeVector();
    llvm::stable_sort(order, [](auto &a, auto &b) { return a.second.bytes > b.second.bytes; });
    out << "  bytes not kept       seconds paid  times  op\n";
    for (auto &[op, entry] : order)
      out << llvm::formatv("  {0,-20} {1,12}  {2,5}  {3}\n",
                           llvm::formatv("{0:F1} MiB", entry.bytes / 1048576.0).str(),
                           milliseconds(entry.seconds * plans.microBatches()), entry.times,
                           displayName(function.ops[op]));
  }
  if (options.precision.isMixed())
    explainPrecision(plans, schedule, out);
  out << "now the peak is " << bytesText(after.bytes + plans.persistent()) << ", at "
      << (after.op.empty() ? "the end of the step" : after.op) << ", where these are alive:\n"
      << "  " << bytesText(plans.persistent())
      << "  weights, optimizer state, input and library transients\n";
  for (const PeakFacts::Alive &entry : after.alive)
    if (entry.bytes * 200 >= after.bytes)
      out << "  " << bytesText(entry.bytes) << "  " << entry.name << " (" << entry.kind << ")\n";
  return text;
}

// A row of a table of budgets; `base` is the seconds of the step that recomputes nothing.
static nlohmann::json paretoRow(const std::vector<StepCandidate> &candidates,
                                const StepDecision &decision, int64_t budget, double base) {
  const StepPlans &plans = candidates[decision.candidate].plans;
  Schedule schedule = scheduleOf(plans.function().graph, decision.plan);
  int again = 0;
  for (int place = 0; place < schedule.size(); ++place)
    again += schedule.recomputed(place);
  return {{"budget_bytes", budget},
          {"peak_bytes", plans.arenaBytes(decision.plan)},
          {"step_seconds_predicted", plans.seconds(decision.plan)},
          {"recompute_fraction", plans.recomputeSeconds(decision.plan) / base},
          {"time_lower_bound", lowestSeconds(candidates, budget) / base - 1},
          {"micro_batches", plans.microBatches()},
          {"split_parts", candidates[decision.candidate].split.parts},
          {"input_slots", plans.inputSlots()},
          {"recomputed_ops", again}};
}

nlohmann::json paretoTable(std::vector<StepCandidate> &candidates, int points) {
  StepPlans &first = candidates.front().plans;
  double base = first.seconds(first.keepEverything());
  int64_t top = first.arenaBytes(first.keepEverything());
  int64_t bottom = std::min(top, smallestStep(candidates).second);
  nlohmann::json rows = nlohmann::json::array();
  for (int i = 0; i < points; ++i) {
    MemoryWishes wishes;
    wishes.budgetBytes = points == 1 ? top : top - (top - bottom) * i / (points - 1);
    rows.push_back(paretoRow(candidates, chooseStep(candidates, wishes), wishes.budgetBytes, base));
  }
  return rows;
}

nlohmann::json policyRow(const std::vector<StepCandidate> &candidates,
                         const StepDecision &decision) {
  const StepPlans &first = candidates.front().plans;
  return paretoRow(candidates, decision,
                   candidates[decision.candidate].plans.arenaBytes(decision.plan),
                   first.seconds(first.keepEverything()));
}

} // namespace gc
