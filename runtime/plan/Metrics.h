// What a plan computes beside its updates, by name: numbers about a micro-batch, and rows of its
// samples.
#ifndef GC_RUNTIME_PLAN_METRICS_H
#define GC_RUNTIME_PLAN_METRICS_H

#include "runtime/plan/Plan_generated.h"

#include <optional>
#include <string_view>

namespace gc::runtime {

// What the trainer looks for.
constexpr std::string_view kLossMetric = "loss";
constexpr std::string_view kCorrectMetric = "correct";
constexpr std::string_view kLogitsOutput = "logits";

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

/// The buffer of what the evaluate list has a row of for each sample; nothing where there is none.
inline std::optional<uint32_t> findOutput(const gc::plan::Plan &plan, std::string_view name) {
  if (plan.outputs())
    for (const gc::plan::Output *output : *plan.outputs())
      if (output->name()->string_view() == name)
        return output->buffer();
  return std::nullopt;
}

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_METRICS_H
