// Peak against time: what --pareto prints and writes.
#ifndef GC_TOOLS_GC_COMPILE_PARETO_H
#define GC_TOOLS_GC_COMPILE_PARETO_H

#include <cstdint>
#include <string>
#include <vector>

struct ParetoPoint {
  int64_t budgetBytes = 0, peakBytes = 0, microBatches = 1;
  int64_t parts = 1; // of the batch, in which chains of ops run
  int64_t recomputedOps = 0;
  double stepSeconds = 0; // predicted
  double recomputed = 0;  // part of a step
  double lowerBound = 0;  // of how much slower any plan within the budget is
  std::string policy;     // what --remat asked for; empty: the row is of a budget
};

/// The "pareto" rows of a compile report, and that of a fixed policy last, where there is one.
std::vector<ParetoPoint> paretoPoints(const std::string &compileReport);

std::string paretoTable(const std::vector<ParetoPoint> &points);
std::string paretoCsv(const std::vector<ParetoPoint> &points);
/// A picture of its own, as SVG.
std::string paretoPlot(const std::vector<ParetoPoint> &points, const std::string &title);

#endif // GC_TOOLS_GC_COMPILE_PARETO_H
