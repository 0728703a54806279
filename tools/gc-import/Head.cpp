#include "tools/gc-import/Head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gc::importer {

using namespace runtime;

static const InputSpec *parameterOf(const Program &program, const Node &node,
                                    const char *argument) {
  const Argument *found = node.find(argument);
  if (!found || found->tensors.empty())
    return nullptr;
  for (const InputSpec &spec : program.inputs)
    if (spec.kind == InputSpec::Kind::Parameter && spec.value == found->tensors.front())
      return &spec;
  return nullptr;
}

static size_t usesOf(const Program &program, const std::string &value) {
  size_t uses = 0;
  for (const Node &node : program.nodes)
    for (const auto &[name, argument] : node.arguments)
      uses +=
          static_cast<size_t>(std::count(argument.tensors.begin(), argument.tensors.end(), value));
  return uses;
}

Result<std::map<std::string, NewStart>> replaceHead(Program &program, int64_t classes) {
  auto bad = [](const std::string &why) {
    return badInput(
        fmt::format("--classes gives another number of outputs to the linear layer that "
                    "a model ends with, and {}: change the model in PyTorch",
                    why));
  };
  std::vector<std::string> outputs;
  for (const OutputSpec &output : program.outputs)
    if (output.kind != OutputSpec::Kind::Other)
      outputs.push_back(output.value);
  if (outputs.size() != 1)
    return bad(fmt::format("this one returns {} tensors", outputs.size()));
  const Node *head = nullptr;
  for (const Node &node : program.nodes)
    if (std::find(node.outputs.begin(), node.outputs.end(), outputs[0]) != node.outputs.end())
      head = &node;
  if (!head || head->target != "aten.linear.default")
    return bad(fmt::format("this one ends with {}", head ? head->target : "an input"));
  std::map<std::string, NewStart> result;
  for (const char *argument : {"weight", "bias"}) {
    const InputSpec *spec = parameterOf(program, *head, argument);
    if (!spec && argument == std::string("bias") && !head->find("bias"))
      continue;
    if (!spec || usesOf(program, spec->value) != 1)
      return bad("its parameters are computed, or used elsewhere");
    TensorMeta &meta = program.values.at(spec->value);
    if (meta.sizes.empty())
      return bad("its parameters are no matrices");
    meta.sizes[0] = classes;
    result[spec->name].shape = meta.sizes;
  }
  int64_t inputs = std::max<int64_t>(result.begin()->second.shape.back(), 1);
  for (const auto &[name, start] : result)
    if (start.shape.size() == 2)
      inputs = start.shape[1];
  for (auto &[name, start] : result)
    start.bound = 1 / std::sqrt(static_cast<double>(inputs));
  program.values.at(outputs[0]).sizes.back() = classes;
  return result;
}

} // namespace gc::importer
