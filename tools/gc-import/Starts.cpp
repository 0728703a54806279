#include "tools/gc-import/Starts.h"

#include "llvm/ADT/StringRef.h"

namespace gc::importer {

void findStarts(const Program &program, std::map<std::string, Variable> &variables,
                std::map<const Variable *, models::Initializer> &starts) {
  auto variable = [&](const Node &node, const char *argument) -> Variable * {
    const Argument *found = node.find(argument);
    if (!found || found->tensors.empty())
      return nullptr;
    auto known = variables.find(found->tensors.front());
    return known == variables.end() ? nullptr : &known->second;
  };
  auto start = [&](const Variable *which, const models::Initializer &init) {
    if (which)
      starts.try_emplace(which, init);
  };
  for (const Node &node : program.nodes) {
    llvm::StringRef target = node.target;
    Variable *weight = variable(node, "weight"), *bias = variable(node, "bias");
    if (target.starts_with("aten.conv") || target == "aten.linear.default") {
      if (!weight || weight->meta.sizes.size() < 2)
        continue;
      models::LayerInit init =
          models::layerDefault(weight->meta.elements() / weight->meta.sizes[0]);
      start(weight, init.weight);
      start(bias, *init.bias);
    } else if (target.ends_with("_norm.default")) {
      start(weight, models::constant(1.0));
      start(bias, models::constant(0.0));
    } else if (target == "aten.embedding.default") {
      start(weight, models::normal(1.0));
    } else if (target == "aten.addmm.default") {
      start(variable(node, "mat2"), models::normal(0.02));
      start(variable(node, "self"), models::constant(0.0));
    }
  }
  // Tokens, positions, scales: what no layer of PyTorch starts.
  for (auto &[name, each] : variables)
    if (each.isParameter)
      start(&each, each.meta.sizes.size() > 1 ? models::normal(0.02) : models::constant(0.0));
}

} // namespace gc::importer
