#include "runtime/report/MemoryTimeline.h"

#include "runtime/report/ReportReader.h"

#include <fmt/format.h>

#include <algorithm>

namespace gc::runtime {

using json = nlohmann::ordered_json;

static StepTimeline readStep(ReportReader &reader, const json &timeline, const char *key) {
  const json &from = reader.object(timeline, key);
  StepTimeline step;
  step.peakBytes = reader.bytes(from, "peak_bytes");
  step.peakOp = reader.text(from, "peak_op");
  for (const json &live : reader.list(from, "live"))
    if (live.is_number_unsigned())
      step.live.push_back(live.get<uint64_t>());
    else
      reader.complain("live");
  if (step.live.empty())
    reader.complain("live");
  for (const json &tensor : reader.list(from, "alive_at_peak"))
    if (tensor.is_object())
      step.aliveAtPeak.push_back({reader.text(tensor, "name"), reader.text(tensor, "kind"),
                                  reader.bytes(tensor, "bytes")});
    else
      reader.complain("alive_at_peak");
  std::stable_sort(step.aliveAtPeak.begin(), step.aliveAtPeak.end(),
                   [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  return step;
}

Result<std::optional<MemoryTimeline>> readTimeline(const std::string &compileReport) {
  json report = json::parse(compileReport, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("timeline"))
    return std::optional<MemoryTimeline>();
  MemoryTimeline timeline;
  ReportReader reader;
  const json &from = report["timeline"];
  timeline.persistentBytes = reader.bytes(from, "persistent_bytes");
  timeline.before = readStep(reader, from, "before");
  timeline.after = readStep(reader, from, "after");
  if (!reader.missing().empty())
    return badInput(fmt::format("the compile report's timeline has no proper '{}'; compile the "
                                "model again",
                                reader.missing()));
  if (auto remat = report.find("remat"); remat != report.end() && remat->is_object())
    if (auto budget = remat->find("budget_bytes");
        budget != remat->end() && budget->is_number_unsigned() && *budget > 0)
      timeline.budgetBytes = budget->get<uint64_t>();
  return std::optional(std::move(timeline));
}

static json aliveData(const StepTimeline &step) {
  json names = json::array(), kinds = json::array(), bytes = json::array();
  uint64_t named = 0;
  for (const AliveTensor &tensor : step.aliveAtPeak) {
    names.push_back(tensor.name);
    kinds.push_back(tensor.kind);
    bytes.push_back(tensor.bytes);
    named += tensor.bytes;
  }
  return {{"name", names},
          {"kind", kinds},
          {"bytes", bytes},
          {"rest", step.peakBytes - std::min(named, step.peakBytes)}};
}

json timelineData(const MemoryTimeline &t) {
  return {{"persistent", t.persistentBytes},
          {"budget", t.budgetBytes ? json(*t.budgetBytes) : json(nullptr)},
          {"before",
           {{"peak", t.before.peakBytes},
            {"op", t.before.peakOp},
            {"live", t.before.live},
            {"alive", aliveData(t.before)}}},
          {"after", {{"peak", t.after.peakBytes}, {"op", t.after.peakOp}}}};
}

} // namespace gc::runtime
