//===- PeakFacts.cpp - what is alive where most is ------------------------===//
#include "passes/analysis/PeakFacts.h"
#include "dialects/OpName.h"
#include "llvm/Support/FormatVariadic.h"

namespace gc {

std::string bytesText(int64_t bytes) {
  return llvm::formatv("{0} bytes ({1:F1} MiB)", bytes, bytes / 1048576.0);
}

PeakFacts peakOf(const FunctionGraph &function, const RematPlan &plan) {
  Schedule schedule = scheduleOf(function.graph, plan);
  Lives lives;
  lives.analyse(FlatGraph(function.graph), schedule);
  PeakFacts facts;
  facts.live = lives.live();
  facts.bytes = lives.peak();
  if (lives.peakAt() < schedule.size())
    facts.op = displayName(function.ops[schedule.op(lives.peakAt())]);
  for (const StorageLife &storage : lives.storages()) {
    if (storage.first > lives.peakAt() || lives.peakAt() > storage.last)
      continue;
    int op = schedule.op(storage.first);
    bool workspace = storage.instance < 0;
    facts.alive.push_back({displayName(function.ops[op]),
                           workspace                         ? "workspace"
                           : function.graph.ops[op].backward ? "gradient"
                                                             : "activation",
                           storage.bytes});
  }
  llvm::stable_sort(facts.alive, [](auto &a, auto &b) { return a.bytes > b.bytes; });
  return facts;
}

} // namespace gc
