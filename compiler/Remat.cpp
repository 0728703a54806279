//===- Remat.cpp - meeting a memory budget --------------------------------===//
#include "compiler/Remat.h"
#include "dialects/OpName.h"
#include "passes/Rematerialize.h"
#include "passes/algorithms/Packing.h"
#include "passes/analysis/OpCosts.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace gc {
namespace {

constexpr int badInput = 2, noBudget = 3;

std::string sizeText(int64_t bytes) {
  return llvm::formatv("{0} bytes ({1:F1} MiB)", bytes, bytes / 1048576.0);
}

// The size that the packer reaches for a plan; never below its largest sum of live bytes.
int64_t packedBytes(const StepGraph &graph, const RematPlan &plan, uint64_t searchSteps) {
  Lives lives;
  lives.analyse(FlatGraph(graph), scheduleOf(graph, plan));
  std::vector<Interval> intervals;
  for (const StorageLife &storage : lives.storages()) {
    Interval interval;
    interval.lower = storage.first;
    interval.upper = storage.last + 1;
    interval.size = alignedBytes(storage.bytes);
    interval.alignment = storageAlignment;
    intervals.push_back(interval);
  }
  PackingOptions options;
  options.stepLimit = searchSteps;
  return static_cast<int64_t>(packIntervals(intervals, options).bytes);
}

// What is alive where a plan is largest, the largest first.
std::string describePeak(const FunctionGraph &function, const RematPlan &plan) {
  Schedule schedule = scheduleOf(function.graph, plan);
  Lives lives;
  lives.analyse(FlatGraph(function.graph), schedule);
  std::vector<const StorageLife *> alive;
  for (const StorageLife &storage : lives.storages())
    if (storage.first <= lives.peakAt() && lives.peakAt() <= storage.last)
      alive.push_back(&storage);
  llvm::sort(alive, [](auto *a, auto *b) { return a->bytes > b->bytes; });
  std::string text;
  llvm::raw_string_ostream out(text);
  if (lives.peakAt() < schedule.size())
    out << "the peak is at " << displayName(function.ops[schedule.op(lives.peakAt())])
        << ", where these are alive:";
  for (size_t i = 0; i < alive.size() && i < 6; ++i) {
    const StorageLife &storage = *alive[i];
    out << "\n  " << sizeText(storage.bytes) << "  ";
    if (storage.instance < 0)
      out << "workspace";
    else
      out << displayName(function.ops[function.graph.values[schedule.value(storage.instance)].producer]);
  }
  if (alive.size() > 6)
    out << "\n  and " << alive.size() - 6 << " more";
  return text;
}

class Decision {
public:
  Decision(ModuleOp module, const CompileOptions &options, const PlanMemoryOptions &memory,
           nlohmann::json &report)
      : module(module), options(options), memory(memory), report(report) {}

  RematFailure run() {
    for (auto candidate : module.getOps<func::FuncOp>())
      if (auto list = candidate->getAttrOfType<StringAttr>("gc.list"))
        if (list.getValue() == "micro_batch")
          train = candidate;
    if (!train)
      return {badInput, "no function for a micro-batch; run gc-autodiff first"};
    OpCosts costs;
    function = stepGraphOf(train, [&](Operation *op) { return costs.seconds(op); });
    RematPlan plan = keepAll(function.graph);
    baseSeconds = plan.seconds;
    std::string policy = options.budgetBytes ? "budget" : options.remat;
    if (options.budgetBytes) {
      if (options.remat != "none")
        return {badInput, "--budget and --remat=" + options.remat +
                              " exclude each other: the budget decides what is recomputed"};
      if (RematFailure failure = meetBudget(plan); failure.exitCode)
        return failure;
    } else if (options.remat == "all") {
      plan = dropAll(function.graph);
    } else if (options.remat == "sqrt") {
      plan = keepSquareRoot(function.graph);
    } else if (StringRef(options.remat).starts_with("checkpoints:")) {
      int count = 0;
      if (StringRef(options.remat).drop_front(12).getAsInteger(10, count) || count < 0)
        return {badInput, "--remat=" + options.remat + ": expected checkpoints:N with N from 0 on"};
      size_t saved = savedValues(function.graph).size();
      if (static_cast<size_t>(count) > saved)
        return {badInput, llvm::formatv("--remat={0}: the step saves only {1} values; use at most "
                                        "that many checkpoints",
                                        options.remat, saved)};
      plan = keepCheckpoints(function.graph, count);
    } else if (options.remat != "none") {
      return {badInput, "--remat=" + options.remat +
                            ": expected none, all, sqrt or checkpoints:N"};
    }
    fillReport(policy, plan);
    if (plan.recomputeSeconds > 0)
      applyRematerialization(function, plan);
    return {};
  }

private:
  // The fastest plan of the frontier whose packed size fits.
  RematFailure meetBudget(RematPlan &plan) {
    int64_t persistent = persistentBytes(module, memory);
    int64_t budget = static_cast<int64_t>(options.budgetBytes) - persistent;
    int64_t lowest = persistent + peakLowerBound(function.graph);
    std::vector<RematPlan> plans = frontier(function.graph);
    for (const RematPlan &candidate : plans)
      if (candidate.peak <= budget &&
          packedBytes(function.graph, candidate, memory.searchSteps) <= budget) {
        plan = candidate;
        timeLowerBound = recomputeLowerBound(function.graph, budget);
        return {};
      }
    const RematPlan &smallest = plans.back();
    int64_t needed =
        persistent + packedBytes(function.graph, smallest, memory.searchSteps);
    return {noBudget,
            llvm::formatv("the budget of {0} cannot be met: this step needs at least {1}\nno plan "
                          "in this order of ops can need less than {2}; weights, state and input "
                          "alone take {3}\n{4}\ntry --budget={5}, a smaller batch or --accumulate",
                          sizeText(options.budgetBytes), sizeText(needed), sizeText(lowest),
                          sizeText(persistent), describePeak(function, smallest), needed)};
  }

  void fillReport(const std::string &policy, const RematPlan &plan) {
    std::vector<int> saved = savedValues(function.graph);
    int64_t recomputed = llvm::count_if(
        saved, [&](int value) { return plan.retention[value] != Retention::Keep; });
    nlohmann::json &remat = report["remat"];
    remat["policy"] = policy;
    remat["budget_bytes"] = options.budgetBytes;
    remat["retained"] = static_cast<int64_t>(saved.size()) - recomputed;
    remat["recomputed"] = recomputed;
    remat["recompute_seconds_predicted"] = plan.recomputeSeconds;
    remat["recompute_fraction"] = baseSeconds > 0 ? plan.recomputeSeconds / baseSeconds : 0.0;
    remat["time_lower_bound"] = timeLowerBound;
    remat["gap"] = baseSeconds > 0 ? (plan.recomputeSeconds - timeLowerBound) / baseSeconds : 0.0;
    report["step_seconds_predicted"] = plan.seconds;
  }

  ModuleOp module;
  const CompileOptions &options;
  const PlanMemoryOptions &memory;
  nlohmann::json &report;
  func::FuncOp train;
  FunctionGraph function;
  double baseSeconds = 0;
  double timeLowerBound = 0;
};

} // namespace

RematFailure rematerialize(ModuleOp module, const CompileOptions &options,
                           const PlanMemoryOptions &memory, nlohmann::json &report) {
  return Decision(module, options, memory, report).run();
}

} // namespace gc
