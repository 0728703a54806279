#include "runtime/report/CommandFiles.h"

#include "runtime/process/AtomicFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

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

/// Tracks, in the order of their rows; and the letter that phasesOf() gives commands of a step.
struct Track {
  const char *name;
  char phase;
};
static constexpr Track kTracks[] = {{"once", 0},         {"forward", 'f'}, {"backward", 'b'},
                                    {"recomputed", 'r'}, {"updates", 'u'}, {"evaluate", 0}};

/// What is alive at each command of a step, by kind, at the time when it began.
static void addArena(json &events, const std::vector<ArenaUse> &alive, size_t command, double ts) {
  json bytes;
  for (const ArenaUse &kind : alive)
    bytes[kind.kind] = kind.bytes[command];
  events.push_back(
      {{"name", "arena_bytes"}, {"ph", "C"}, {"pid", 1}, {"ts", ts}, {"args", std::move(bytes)}});
}

Status writeTrace(const std::string &path, const std::string &model, const StepPhases &step,
                  const std::vector<CommandTime> &commands, const MonitorSummary *monitor) {
  json events = json::array();
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", model}}}});
  for (int row = 0; const Track &track : kTracks)
    for (auto [name, key, value] : {std::tuple("thread_name", "name", json(track.name)),
                                    std::tuple("thread_sort_index", "sort_index", json(row++))})
      events.push_back({{"name", name},
                        {"ph", "M"},
                        {"pid", 1},
                        {"tid", &track - kTracks + 1},
                        {"args", {{key, value}}}});
  if (monitor)
    addCounters(events, *monitor);
  // Times are in microseconds.
  for (size_t inStep = 0; const CommandTime &command : commands) {
    bool isStep = command.list == "micro_batch" || command.list == "step";
    size_t index = isStep ? inStep++ : 0;
    if (command.executions == 0)
      continue;
    auto row = std::find_if(std::begin(kTracks), std::end(kTracks), [&](const Track &track) {
      return isStep ? track.phase == step.phases[index] : command.list == track.name;
    });
    if (isStep)
      addArena(events, step.alive, index, command.lastBegin * 1e6);
    json arguments = {{"implementation", command.implementation},
                      {"flops", command.flops},
                      {"bytes", command.bytesMoved}};
    for (const CommandPart &part : command.parts)
      arguments["ops"].push_back(part.name);
    events.push_back({{"name", command.name},
                      {"cat", command.recomputed ? "recomputed" : "command"},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", row - kTracks + 1},
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
