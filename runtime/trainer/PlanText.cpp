#include "runtime/trainer/PlanText.h"

#include "runtime/report/Sizes.h"
#include "runtime/trainer/ConsoleText.h"
#include "runtime/trainer/PlanFacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <map>

namespace gc::runtime {

using Value = nlohmann::ordered_json;

size_t commandsOf(const plan::CommandList *list) {
  return list && list->commands() ? list->commands()->size() : 0;
}

size_t kernelsOf(const plan::Plan &plan) {
  return plan.kernels() && plan.kernels()->symbols() ? plan.kernels()->symbols()->size() : 0;
}

double gapOf(const MemoryReport &m) {
  return m.planned.lower_bound
             ? static_cast<double>(m.arenaBytes) / static_cast<double>(m.planned.lower_bound) - 1
             : 0;
}

std::string labelled(const char *label, const std::string &text) {
  return fmt::format("{:<{}} {}\n", label, kLabelColumns, text);
}

std::string textOf(const flatbuffers::String *text) { return text ? text->str() : ""; }

std::string targetText(const plan::Plan &plan) {
  const plan::Target &target = *plan.target();
  std::string machine = textOf(target.cpu()) + textOf(target.architecture());
  return target.device()->str() + (machine.empty() ? "" : ", " + machine);
}

std::string peakText(const plan::Plan &plan) {
  TrainingReport facts;
  fillPlanFacts(facts, plan);
  const MemoryReport &m = facts.memory;
  std::string text = labelled(
      "model",
      fmt::format("{}, {}, batch {}{}", facts.model, parametersText(facts), facts.batch,
                  facts.microBatches > 1 ? fmt::format(" in {} micro-batches", facts.microBatches)
                                         : ""));
  text += labelled("target", targetText(plan));
  text += labelled("plan peak", sizeText(m.arenaBytes));
  text += labelled("", fmt::format("lower bound {}, gap {:.2f} %", sizeText(m.planned.lower_bound),
                                   100 * gapOf(m)));
  std::pair<const char *, uint64_t> parts[] = {{"weights", m.planned.weights},
                                               {"gradients", m.planned.gradients},
                                               {"optimizer", m.planned.optimizer},
                                               {"activations", m.planned.activations},
                                               {"workspace", m.planned.workspace},
                                               {"input", m.planned.input},
                                               {"fragmentation", m.planned.fragmentation}};
  const char *label = "at the peak";
  for (auto [name, bytes] : parts) {
    text += labelled(label, fmt::format("{:<13} {}", name, sizeText(bytes)));
    label = "";
  }
  return text;
}

/// The lists of commands with the names that they have in the plan.
static std::array<std::pair<const char *, const plan::CommandList *>, 4>
listsOf(const plan::Plan &plan) {
  return {{{"once", plan.once()},
           {"micro_batch", plan.micro_batch()},
           {"step", plan.step()},
           {"evaluate", plan.evaluate()}}};
}

static void forEachCommand(const plan::CommandList *list, auto visit) {
  for (size_t i = 0; i < commandsOf(list); ++i)
    visit(*list->commands()->Get(static_cast<flatbuffers::uoffset_t>(i)), i);
}

static void forEach(const auto *entries, auto visit) {
  for (flatbuffers::uoffset_t i = 0; entries && i < entries->size(); ++i)
    visit(*entries->Get(i));
}

/// `Convolution` → how many of a list are convolutions.
static std::map<std::string, size_t> kindsOf(const plan::CommandList *list) {
  std::map<std::string, size_t> kinds;
  forEachCommand(list, [&](const plan::Command &command, size_t) {
    ++kinds[plan::EnumNameOperation(command.operation_type())];
  });
  return kinds;
}

static std::vector<int64_t> numbers(const flatbuffers::Vector<int64_t> *shape) {
  return shape ? std::vector<int64_t>(shape->begin(), shape->end()) : std::vector<int64_t>();
}

/// `64 x 3 x 7 x 7`; of a scalar `1`.
static std::string shapeOf(const flatbuffers::Vector<int64_t> *shape) {
  std::vector<int64_t> sizes = numbers(shape);
  return sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, " x "));
}

/// A variable's shape is the file's, or that of its buffer where the plan gives none.
static const flatbuffers::Vector<int64_t> *shapeOf(const plan::Plan &plan,
                                                   const plan::Variable &variable) {
  const auto *shape = variable.file_shape();
  return shape && shape->size() ? shape : plan.buffers()->Get(variable.buffer())->shape();
}

std::string contentText(const plan::Plan &plan) {
  TrainingReport facts;
  fillPlanFacts(facts, plan);
  std::string text;
  if (!facts.optimizer.empty())
    text += labelled("optimizer", facts.optimizer);
  text += labelled("remat", rematText(facts.remat));
  if (keepsGradients(plan))
    text += labelled("gradients", "kept to the end of the step");
  const char *label = "inputs";
  forEach(plan.inputs(), [&](const plan::Input &input) {
    const plan::Buffer &buffer = *plan.buffers()->Get(input.slots()->Get(0));
    text +=
        labelled(label, fmt::format("{}: {} {}, {} buffer{}", input.name()->string_view(),
                                    plan::EnumNameDType(buffer.dtype()), shapeOf(buffer.shape()),
                                    input.slots()->size(), input.slots()->size() == 1 ? "" : "s"));
    label = "";
  });
  std::map<std::string, std::pair<size_t, uint64_t>> roles;
  forEach(plan.variables(), [&](const plan::Variable &variable) {
    auto &[count, bytes] = roles[plan::EnumNameVariableRole(variable.role())];
    ++count;
    bytes += plan.buffers()->Get(variable.buffer())->bytes();
  });
  label = "variables";
  for (const auto &[role, total] : roles) {
    text += labelled(
        label, fmt::format("{:>6} {:<17} {}", total.first, role, shortSizeText(total.second)));
    label = "";
  }
  label = "commands";
  for (auto [name, list] : listsOf(plan)) {
    if (!commandsOf(list))
      continue;
    std::vector<std::string> kinds;
    for (const auto &[kind, count] : kindsOf(list))
      kinds.push_back(fmt::format("{} {}", count, kind));
    text += labelled(
        label, fmt::format("{:>6} {:<12} {}", commandsOf(list), name, fmt::join(kinds, ", ")));
    label = "";
  }
  text += labelled("kernels", fmt::format("{} generated", kernelsOf(plan)));
  if (plan.graphs() && plan.graphs()->size())
    text += labelled("graphs", fmt::format("{} of {}", plan.graphs()->size(),
                                           textOf(plan.target()->library_version())));
  return text;
}

std::string variableTable(const plan::Plan &plan) {
  std::string text = fmt::format("{:>6}  {:<16}  {:<5}  {:>12}  {:<20}  {}\n", "buffer", "role",
                                 "dtype", "bytes", "shape", "name");
  forEach(plan.variables(), [&](const plan::Variable &variable) {
    const plan::Buffer &buffer = *plan.buffers()->Get(variable.buffer());
    text += fmt::format("{:>6}  {:<16}  {:<5}  {:>12}  {:<20}  {}\n", variable.buffer(),
                        plan::EnumNameVariableRole(variable.role()),
                        plan::EnumNameDType(buffer.dtype()), buffer.bytes(),
                        shapeOf(shapeOf(plan, variable)), variable.name()->string_view());
  });
  return text;
}

std::string commandTable(const plan::Plan &plan) {
  std::string text = fmt::format("{:<11}  {:>5}  {:<11}  {:>9}  {:>9}  {:>10}  {}\n", "list",
                                 "index", "kind", "MFLOP", "MB moved", "predicted", "op");
  for (auto [name, list] : listsOf(plan))
    forEachCommand(list, [&, name = name](const plan::Command &command, size_t index) {
      text +=
          fmt::format("{:<11}  {:>5}  {:<11}  {:>9.3f}  {:>9.3f}  {:>10}  {}{}\n", name, index,
                      plan::EnumNameOperation(command.operation_type()), command.flops() / 1e6,
                      command.bytes_moved() / 1e6, secondsText(command.seconds_predicted()),
                      command.name()->string_view(), command.recomputed() ? " (recomputed)" : "");
    });
  return text;
}

std::string bufferTable(const plan::Plan &plan) {
  std::string text =
      fmt::format("{:>6}  {:<14}  {:<5}  {:>13}  {:>12}  {:>11}  {:<20}  {}\n", "index", "kind",
                  "dtype", "offset", "bytes", "commands", "shape", "name");
  size_t index = 0;
  forEach(plan.buffers(), [&](const plan::Buffer &buffer) {
    text += fmt::format("{:>6}  {:<14}  {:<5}  {:>13}  {:>12}  {:>11}  {:<20}  {}{}\n", index++,
                        plan::EnumNameBufferKind(buffer.kind()),
                        plan::EnumNameDType(buffer.dtype()), buffer.offset(), buffer.bytes(),
                        fmt::format("{}..{}", buffer.first_command(), buffer.last_command()),
                        shapeOf(buffer.shape()), buffer.name()->string_view(),
                        buffer.evaluate() ? " (evaluate)" : "");
  });
  return text;
}

Value planJson(const plan::Plan &plan) {
  TrainingReport facts;
  fillPlanFacts(facts, plan);
  const plan::Target &target = *plan.target();
  Value out = {{"model", facts.model},
               {"batch", facts.batch},
               {"micro_batches", facts.microBatches},
               {"parameters", facts.parameters},
               {"trainable_parameters", facts.trainableParameters},
               {"optimizer", facts.optimizer},
               {"target",
                {{"device", target.device()->str()},
                 {"cpu", textOf(target.cpu())},
                 {"architecture", textOf(target.architecture())},
                 {"card", textOf(target.card())},
                 {"threads", target.threads()},
                 {"library", textOf(target.library_version())}}},
               {"memory", plannedMemoryJson(facts.memory)},
               {"remat", {{"policy", facts.remat.policy}, {"recomputed", facts.remat.recomputed}}},
               {"keeps_gradients", keepsGradients(plan)}};
  Value inputs = Value::array(), variables = Value::array(), commands = Value::object(),
        buffers = Value::array(), graphs = Value::array();
  forEach(plan.inputs(), [&](const plan::Input &input) {
    const plan::Buffer &buffer = *plan.buffers()->Get(input.slots()->Get(0));
    inputs.push_back({{"name", input.name()->str()},
                      {"dtype", plan::EnumNameDType(buffer.dtype())},
                      {"shape", numbers(buffer.shape())},
                      {"slots", input.slots()->size()}});
  });
  forEach(plan.variables(), [&](const plan::Variable &variable) {
    const plan::Buffer &buffer = *plan.buffers()->Get(variable.buffer());
    variables.push_back({{"name", variable.name()->str()},
                         {"role", plan::EnumNameVariableRole(variable.role())},
                         {"frozen", variable.frozen()},
                         {"dtype", plan::EnumNameDType(buffer.dtype())},
                         {"shape", numbers(shapeOf(plan, variable))},
                         {"buffer", variable.buffer()},
                         {"bytes", buffer.bytes()}});
  });
  for (auto [name, list] : listsOf(plan)) {
    Value entries = Value::array();
    forEachCommand(list, [&](const plan::Command &command, size_t) {
      entries.push_back({{"kind", plan::EnumNameOperation(command.operation_type())},
                         {"op", command.name()->str()},
                         {"flops", command.flops()},
                         {"bytes_moved", command.bytes_moved()},
                         {"seconds_predicted", command.seconds_predicted()},
                         {"recomputed", command.recomputed()}});
    });
    commands[name] = entries;
  }
  forEach(plan.buffers(), [&](const plan::Buffer &buffer) {
    buffers.push_back({{"name", buffer.name()->str()},
                       {"kind", plan::EnumNameBufferKind(buffer.kind())},
                       {"dtype", plan::EnumNameDType(buffer.dtype())},
                       {"shape", numbers(buffer.shape())},
                       {"offset", buffer.offset()},
                       {"bytes", buffer.bytes()},
                       {"first_command", buffer.first_command()},
                       {"last_command", buffer.last_command()},
                       {"evaluate", buffer.evaluate()}});
  });
  forEach(plan.graphs(), [&](const plan::LibraryGraph &graph) {
    graphs.push_back({{"name", graph.name()->str()},
                      {"engine", textOf(graph.engine())},
                      {"workspace_bytes", graph.workspace_bytes()}});
  });
  out["inputs"] = inputs;
  out["variables"] = variables;
  out["commands"] = commands;
  out["kernels"] = kernelsOf(plan);
  out["graphs"] = graphs;
  out["buffers"] = buffers;
  return out;
}

} // namespace gc::runtime
