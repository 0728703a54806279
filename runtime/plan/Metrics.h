// The numbers that a plan computes beside its updates, by name.
#ifndef GC_RUNTIME_PLAN_METRICS_H
#define GC_RUNTIME_PLAN_METRICS_H

#include "runtime/plan/Plan_generated.h"

#include <optional>
#include <string_view>

namespace gc::runtime {

// What the trainer looks for.
constexpr std::string_view kLossMetric = "loss";
constexpr std::string_view kCorrectMetric = "correct";

/// The buffer of a metric of the micro_batch list, or of the evaluate list; nothing where the plan
/// has no such metric.
inline std::optional<uint32_t> findMetric(const gc::plan::Plan &plan, std::string_view name,
                                          bool evaluate = false) {
  if (plan.metrics())
    for (const gc::plan::Metric *metric : *plan.metrics())
      if (metric->evaluate() == evaluate && metric->name()->string_view() == name)
        return metric->buffer();
  return std::nullopt;
}

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_METRICS_H
