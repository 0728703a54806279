#include "tools/gc-import/LiveNodes.h"

#include "tools/gc-import/Views.h"

#include <set>

namespace gc::importer {

static size_t endOfName(const std::string &target) {
  size_t begin = target.find('.');
  return begin == target.npos ? target.size()
                              : std::min(target.find('.', begin + 1), target.size());
}

bool isInPlace(const std::string &target) {
  size_t end = endOfName(target);
  // `aten.__and__` writes nothing.
  return end > 2 && target[end - 1] == '_' && target[end - 2] != '_';
}

std::string functionalTarget(const std::string &target) {
  std::string result = target;
  if (isInPlace(target))
    result.erase(endOfName(target) - 1, 1);
  return result;
}

std::vector<bool> liveNodes(const Program &program) {
  // The tensor whose memory a value may be.
  std::map<std::string, std::string> base;
  auto baseOf = [&](const std::string &name) {
    auto found = base.find(name);
    return found == base.end() ? name : found->second;
  };
  for (const Node &node : program.nodes)
    if (isInPlace(node.target) || isViewTarget(node.target))
      if (!node.arguments.empty() && node.arguments[0].second.kind == Argument::Kind::Tensor)
        for (const std::string &output : node.outputs)
          base[output] = baseOf(node.arguments[0].second.tensors[0]);

  std::set<std::string> needed;
  for (const OutputSpec &output : program.outputs)
    if (output.kind != OutputSpec::Kind::Other)
      needed.insert(baseOf(output.value));
  std::vector<bool> live(program.nodes.size(), false);
  for (size_t i = program.nodes.size(); i-- > 0;) {
    const Node &node = program.nodes[i];
    for (const std::string &output : node.outputs)
      live[i] = live[i] || (!output.empty() && needed.count(baseOf(output)) != 0);
    if (!live[i])
      continue;
    for (const auto &[name, argument] : node.arguments)
      for (const std::string &tensor : argument.tensors)
        needed.insert(baseOf(tensor));
  }
  return live;
}

} // namespace gc::importer
