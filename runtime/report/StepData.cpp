#include "runtime/report/StepData.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/report/CommandWrites.h"
#include "runtime/report/MemoryTimeline.h"
#include "runtime/report/SavedReasons.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <unordered_map>

namespace gc::runtime {

using json = nlohmann::ordered_json;

/// In the order of BufferKind.
static constexpr const char *kKindNames[] = {"parameter", "state",      "optimizer state",
                                             "gradient",  "activation", "workspace",
                                             "input",     "metric"};

template <class Visit> static void eachCommand(const plan::CommandList *list, Visit visit) {
  if (list && list->commands())
    for (const plan::Command *command : *list->commands())
      visit(*command);
}

static bool changesParameter(const plan::Command &command) {
  if (command.update())
    return true;
  if (command.parts())
    for (const plan::CommandPart *part : *command.parts())
      if (part->update())
        return true;
  return false;
}

/// The op that makes the loss, and the ops of the other metrics: they end the forward pass.
static std::set<int> metricOps(const plan::Plan &plan) {
  std::set<int> ops;
  if (!plan.metrics() || !plan.buffers() || !plan.micro_batch() || !plan.micro_batch()->commands())
    return ops;
  const auto &commands = *plan.micro_batch()->commands();
  for (const plan::Metric *metric : *plan.metrics()) {
    if (metric->evaluate() || metric->buffer() >= plan.buffers()->size())
      continue;
    int first = plan.buffers()->Get(metric->buffer())->first_command();
    if (first >= 0 && first < static_cast<int>(commands.size()))
      ops.insert(commands.Get(static_cast<flatbuffers::uoffset_t>(first))->op());
  }
  return ops;
}

/// The buffers that are made ready for the next step: the count of steps and draws, optimizer
/// state.
static std::set<uint32_t> countersAndState(const plan::Plan &plan) {
  std::set<uint32_t> buffers;
  if (plan.variables())
    for (const plan::Variable *variable : *plan.variables())
      if (variable->role() == plan::VariableRole_Generator ||
          variable->role() == plan::VariableRole_OptimizerState)
        buffers.insert(variable->buffer());
  return buffers;
}

std::string phasesOf(const plan::Plan &plan) {
  std::set<int> lastOps = metricOps(plan);
  std::set<uint32_t> forNextStep = countersAndState(plan);
  auto isUpdate = [&](const plan::Command &command) {
    std::vector<uint32_t> written = writtenBuffers(command);
    return changesParameter(command) ||
           std::any_of(written.begin(), written.end(),
                       [&](uint32_t buffer) { return forNextStep.count(buffer) > 0; });
  };
  std::string phases;
  size_t forwardEnd = 0;
  eachCommand(plan.micro_batch(), [&](const plan::Command &command) {
    phases += isUpdate(command) ? 'u' : command.recomputed() ? 'r' : 'b';
    if (!command.recomputed() && lastOps.count(command.op()))
      forwardEnd = phases.size();
  });
  std::replace(phases.begin(), phases.begin() + static_cast<std::ptrdiff_t>(forwardEnd), 'b', 'f');
  eachCommand(plan.step(), [&](const plan::Command &) { phases += 'u'; });
  return phases;
}

StepPhases stepPhasesOf(const plan::Plan &plan) {
  StepPhases step{phasesOf(plan), {}};
  auto commands = static_cast<int64_t>(step.phases.size());
  std::vector<ArenaUse> &all = step.alive;
  for (const char *kind : kKindNames)
    all.push_back({kind, std::vector<int64_t>(static_cast<size_t>(commands), 0)});
  for (size_t i = 0; plan.buffers() && i < plan.buffers()->size(); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    if (buffer.evaluate() || buffer.part_of() >= 0)
      continue;
    int64_t last = std::min<int64_t>(buffer.last_command(), commands - 1);
    for (int64_t at = std::max(buffer.first_command(), 0); at <= last; ++at)
      all[static_cast<size_t>(buffer.kind())].bytes[static_cast<size_t>(at)] +=
          static_cast<int64_t>(buffer.bytes());
  }
  return step;
}

std::string moduleOfOp(std::string_view name) {
  size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || name.find('@') < colon)
    return "";
  return std::string(name.substr(0, colon));
}

/// Of a variable: the path of the parameter that it is or belongs to, without its last part.
static std::string moduleOfVariable(std::string_view name,
                                    const std::set<std::string, std::less<>> &parameters) {
  auto parent = [](std::string_view path) {
    size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  };
  std::string_view around = parent(name);
  return std::string(parameters.count(around) ? parent(around) : around);
}

namespace {

/// Every text once.
class Strings {
public:
  size_t operator()(const std::string &text) {
    auto [place, isNew] = places.try_emplace(text, all.size());
    if (isNew)
      all.push_back(text);
    return place->second;
  }
  json all = json::array();

private:
  std::unordered_map<std::string, size_t> places;
};

/// Four digits are as many as anybody looks at.
double rounded(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr) : 0;
}

std::string typeText(const plan::Buffer &buffer) {
  std::string text = plan::EnumNameDType(buffer.dtype());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (size_t i = 0; buffer.shape() && i < buffer.shape()->size(); ++i)
    text += fmt::format("{}{}", i ? "×" : " ", buffer.shape()->Get(i));
  return text;
}

json commandData(const plan::Plan &plan, Strings &strings) {
  json names = json::array(), ops = json::array(), seconds = json::array();
  for (const plan::CommandList *list : {plan.micro_batch(), plan.step()})
    eachCommand(list, [&](const plan::Command &command) {
      names.push_back(strings(command.name()->str()));
      // Ops of the step's end are counted anew.
      ops.push_back(list == plan.micro_batch() ? command.op() : -1);
      seconds.push_back(rounded(command.seconds_predicted()));
    });
  return {{"name", names}, {"phase", phasesOf(plan)}, {"op", ops}, {"seconds", seconds}};
}

json bufferData(const plan::Plan &plan, const std::vector<std::vector<size_t>> &held,
                Strings &strings) {
  json data = {{"name", json::array()},  {"module", json::array()}, {"type", json::array()},
               {"kind", json::array()},  {"offset", json::array()}, {"bytes", json::array()},
               {"first", json::array()}, {"last", json::array()},   {"holds", json::array()}};
  std::set<std::string, std::less<>> parameters, variables;
  for (size_t i = 0; plan.variables() && i < plan.variables()->size(); ++i) {
    const plan::Variable &variable = *plan.variables()->Get(i);
    variables.insert(variable.name()->str());
    if (variable.role() == plan::VariableRole_Parameter)
      parameters.insert(variable.name()->str());
  }
  for (size_t i = 0; plan.buffers() && i < plan.buffers()->size(); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    if (buffer.evaluate() || buffer.part_of() >= 0)
      continue; // not of this step, or drawn with the buffer that it is a part of
    std::string name = buffer.name()->str();
    data["name"].push_back(strings(name));
    data["module"].push_back(
        strings(variables.count(name) ? moduleOfVariable(name, parameters) : moduleOfOp(name)));
    data["type"].push_back(strings(typeText(buffer)));
    data["kind"].push_back(static_cast<int>(buffer.kind()));
    data["offset"].push_back(buffer.offset());
    data["bytes"].push_back(buffer.bytes());
    data["first"].push_back(buffer.first_command());
    data["last"].push_back(buffer.last_command());
    data["holds"].push_back(held.empty() || held[i].empty() ? json(0) : json(held[i]));
  }
  return data;
}

json savedData(const std::vector<SavedValue> &saved, int64_t microBatches) {
  json data = {{"name", json::array()},
               {"bytes", json::array()},
               {"kept", json::array()},
               {"reason", json::array()}};
  for (const SavedValue &value : saved) {
    data["name"].push_back(value.name);
    data["bytes"].push_back(value.bytes);
    data["kept"].push_back(value.kept ? 1 : 0);
    data["reason"].push_back(reasonText(value, microBatches));
  }
  return data;
}

/// What one execution of an op has written, in order.
struct Written {
  size_t buffer; // the whole one
  uint64_t bytes;
};

} // namespace

std::vector<std::vector<size_t>> heldValues(const plan::Plan &plan,
                                            const std::vector<SavedValue> &saved) {
  std::vector<std::vector<size_t>> held(plan.buffers() ? plan.buffers()->size() : 0);
  std::unordered_map<int64_t, std::vector<size_t>> valuesOf;
  for (size_t i = 0; i < saved.size(); ++i)
    valuesOf[saved[i].op].push_back(i);

  std::vector<Written> written;
  // A result is the buffer of its number where that has its size, else the only one that has.
  auto place = [&](const SavedValue &value) -> const Written * {
    auto fits = [&](const Written &w) { return w.bytes == value.bytes; };
    if (value.result >= 0 && value.result < static_cast<int64_t>(written.size()) &&
        fits(written[static_cast<size_t>(value.result)]))
      return &written[static_cast<size_t>(value.result)];
    auto found = std::find_if(written.begin(), written.end(), fits);
    return found != written.end() && std::count_if(written.begin(), written.end(), fits) == 1
               ? &*found
               : nullptr;
  };
  int op = -1;
  bool again = false;
  auto finishOp = [&] {
    if (auto values = valuesOf.find(op); values != valuesOf.end())
      for (size_t index : values->second)
        if (const Written *in = place(saved[index]))
          if (std::vector<size_t> &list = held[in->buffer];
              std::find(list.begin(), list.end(), index) == list.end())
            list.push_back(index);
    written.clear();
  };
  eachCommand(plan.micro_batch(), [&](const plan::Command &command) {
    if (command.op() != op || command.recomputed() != again)
      finishOp();
    op = command.op();
    again = command.recomputed();
    for (uint32_t index : writtenBuffers(command)) {
      if (index >= held.size())
        continue;
      const plan::Buffer &buffer = *plan.buffers()->Get(index);
      size_t whole = buffer.part_of() >= 0 ? static_cast<size_t>(buffer.part_of()) : index;
      bool isValue = buffer.kind() == plan::BufferKind_Activation ||
                     buffer.kind() == plan::BufferKind_Gradient ||
                     buffer.kind() == plan::BufferKind_Metric;
      bool isKnown = std::any_of(written.begin(), written.end(), [&](const Written &w) {
        return w.buffer == whole && w.bytes == buffer.bytes();
      });
      if (isValue && !isKnown && whole < held.size())
        written.push_back({whole, buffer.bytes()});
    }
  });
  finishOp();
  return held;
}

Result<json> stepData(const plan::Plan &plan, const std::string &compileReport) {
  Result<std::optional<MemoryTimeline>> timeline = readTimeline(compileReport);
  if (!timeline)
    return timeline.error();
  Result<std::optional<std::vector<SavedValue>>> saved = readSavedValues(compileReport);
  if (!saved)
    return saved.error();
  std::vector<std::vector<size_t>> held;
  if (*saved)
    held = heldValues(plan, **saved);
  Strings strings;
  json data;
  data["model"] = plan.model()->str();
  data["arena"] = plan.arena_bytes();
  data["microBatches"] = plan.micro_batches();
  data["microCommands"] = plan.micro_batch() && plan.micro_batch()->commands()
                              ? plan.micro_batch()->commands()->size()
                              : 0;
  data["kinds"] = kKindNames;
  data["commands"] = commandData(plan, strings);
  data["buffers"] = bufferData(plan, held, strings);
  data["strings"] = std::move(strings.all);
  data["saved"] = *saved ? savedData(**saved, plan.micro_batches()) : json(nullptr);
  data["timeline"] = *timeline ? timelineData(**timeline) : json(nullptr);
  return data;
}

} // namespace gc::runtime
