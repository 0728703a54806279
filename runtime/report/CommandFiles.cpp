#include "runtime/report/CommandFiles.h"

#include "runtime/process/AtomicFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace gc::runtime {

using json = nlohmann::ordered_json;

static std::string dump(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// A counter each for the process and for every quantity of the device; where one is absent, the
/// curve has no point.
static void addCounters(json &events, const MonitorSummary &monitor) {
  auto count = [&](const MonitorSample &sample, const char *name, double value) {
    events.push_back({{"name", name},
                      {"ph", "C"},
                      {"pid", 1},
                      {"ts", (monitor.beginSeconds + sample.seconds) * 1e6},
                      {"args", {{"value", value}}}});
  };
  for (size_t i = 0; i < monitor.samples.size(); ++i) {
    const MonitorSample &sample = monitor.samples[i];
    count(sample, "rss_bytes", static_cast<double>(sample.memoryBytes));
    count(sample, "cpus", sample.cpus);
    for (size_t q = 0; monitor.device && q < kDeviceQuantities; ++q)
      if (std::optional<double> value = monitor.device->samples[i][q])
        count(sample, kDeviceQuantityNames[q].key, *value);
  }
}

Status writeTrace(const std::string &path, const std::string &model,
                  const std::vector<CommandTime> &commands, const MonitorSummary *monitor) {
  json events = json::array();
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", model}}}});
  // One row for each list; times are in microseconds.
  const char *lists[] = {"once", "micro_batch", "step", "evaluate"};
  for (int row = 0; row < 4; ++row)
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", row + 1},
                      {"args", {{"name", lists[row]}}}});
  if (monitor)
    addCounters(events, *monitor);
  for (const CommandTime &command : commands) {
    if (command.executions == 0)
      continue;
    auto row = std::find(std::begin(lists), std::end(lists), command.list) - std::begin(lists);
    json arguments = {{"implementation", command.implementation},
                      {"flops", command.flops},
                      {"bytes", command.bytesMoved}};
    for (const CommandPart &part : command.parts)
      arguments["ops"].push_back(part.name);
    events.push_back({{"name", command.name},
                      {"cat", command.recomputed ? "recomputed" : "command"},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", row + 1},
                      {"ts", command.lastBegin * 1e6},
                      {"dur", command.lastSeconds * 1e6},
                      {"args", std::move(arguments)}});
  }
  return writeFileAtomically(path, dump({{"displayTimeUnit", "ms"}, {"traceEvents", events}}));
}

Status writeProfile(const std::string &path, const TrainingReport &run,
                    const std::vector<CommandTime> &commands) {
  json ops = json::array();
  for (const CommandTime &command : commands) {
    if (command.executions == 0)
      continue;
    // `share` of the command's time is the op's.
    auto add = [&](const CommandPart &op, double share) {
      ops.push_back({{"op", op.op},
                     {"name", op.name},
                     {"list", command.list},
                     {"implementation", command.implementation},
                     {"seconds", share * command.seconds / static_cast<double>(command.executions)},
                     {"median_seconds", share * command.medianSeconds},
                     {"least_seconds", share * command.leastSeconds},
                     {"seconds_predicted", op.secondsPredicted},
                     {"executions", command.executions},
                     {"flops", op.flops},
                     {"bytes_moved", op.bytesMoved},
                     {"recomputed", command.recomputed}});
    };
    if (command.parts.empty())
      add({command.name, command.flops, command.bytesMoved, command.secondsPredicted, command.op},
          1);
    for (const CommandPart &part : command.parts)
      add(part, part.bytesMoved / command.bytesMoved);
  }
  return writeFileAtomically(path, dump({{"model", run.model},
                                         {"device", run.device},
                                         {"threads", run.threads},
                                         {"batch", run.batch},
                                         {"micro_batches", run.microBatches},
                                         {"ops", ops}}));
}

} // namespace gc::runtime
