//===- LibraryOps.cpp - gc ops as graphs of the library -------------------===//
#include "compiler/cuda/LibraryOps.h"
#include "compiler/language/OpUses.h"
#include "compiler/language/PoolWindows.h"
#include "compiler/target/Products.h"

using namespace mlir;

namespace gc::cuda {
namespace {

constexpr kernels::ArgumentAccess reads{true, false}, writes{false, true}, both{true, true};

/// Which buffer of the op has a role.
using Roles = llvm::StringMap<LibraryOp::Binding>;

PoolGraph averageGraph(const kernels::PoolWindows &w, bool backward) {
  PoolGraph graph;
  graph.kind = PoolGraph::Kind::Average;
  graph.backward = backward;
  graph.batch = w.batch, graph.inH = w.height, graph.inW = w.width, graph.channels = w.channels;
  graph.outH = w.outHeight, graph.outW = w.outWidth;
  graph.kernelH = w.kernelHeight, graph.kernelW = w.kernelWidth;
  graph.strideH = w.strideHeight, graph.strideW = w.strideWidth;
  graph.padH = w.padHeight, graph.padW = w.padWidth;
  return graph;
}

/// Whether all windows have their size, padding included, to divide by.
template <typename Pool> bool isPlain(Pool pool) {
  return pool.getCountPadding() && !pool.getCeilMode();
}
constexpr const char *notPlain = "an average without its padding, or with windows that hang over "
                                 "the end, is generated alone";

int numberOf(Operation *op, Value operand) {
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    if (value == operand)
      return int(i);
  return -1;
}

/// The op around the product, or the product itself; results of the former are variables.
struct ProductOp {
  Operation *op;
  bool accumulates;
  explicit ProductOp(Operation *given) : op(given), accumulates(isa<AccumulateProductOp>(given)) {
    if (accumulates)
      op = cast<AccumulateProductOp>(given).getProduct();
  }
  int result(unsigned index) const {
    return int(op->getNumOperands() + index); // variables follow at once: there are no results
  }
  kernels::ArgumentAccess access() const { return accumulates ? both : writes; }
};

Roles rolesOf(Operation *given, const plan::ConvolutionSpecT &c) {
  ProductOp product(given);
  Roles roles;
  switch (c.direction) {
  case plan::Direction_Forward: {
    auto conv = cast<Conv2dOp>(product.op);
    roles["input"] = {0, 0, reads};
    roles["filter"] = {1, 0, reads};
    roles["output"] = {product.result(0), 0, writes};
    if (conv.getBias())
      roles["bias"] = {numberOf(conv, conv.getBias()), 0, reads};
    if (conv.getResidual())
      roles["residual"] = {numberOf(conv, conv.getResidual()), 0, reads};
    break;
  }
  case plan::Direction_BackwardData:
    roles["gradient"] = {0, 0, reads};
    roles["filter"] = {1, 0, reads};
    roles["input_gradient"] = {product.result(0), 0, writes};
    break;
  case plan::Direction_BackwardWeights:
    roles["input"] = {0, 0, reads};
    roles["gradient"] = {1, 0, reads};
    roles["filter_gradient"] = {product.result(0), 0, product.access()};
    break;
  }
  return roles;
}

Roles rolesOf(Operation *given, const plan::MatMulSpecT &) {
  ProductOp product(given);
  bool gradientFirst = isa<LinearGradWeightOp>(product.op); // dW = dy^T x, operands are x, dy
  Roles roles;
  roles["a"] = {gradientFirst ? 1 : 0, 0, reads};
  roles["b"] = {gradientFirst ? 0 : 1, 0, reads};
  roles["c"] = {product.result(0), 0, product.access()};
  roles["accumulated"] = {product.result(0), 0, both};
  if (auto linear = dyn_cast<LinearOp>(product.op)) {
    if (linear.getBias())
      roles["bias"] = {numberOf(linear, linear.getBias()), 0, reads};
    if (linear.getResidual())
      roles["residual"] = {numberOf(linear, linear.getResidual()), 0, reads};
  }
  return roles;
}

Roles attentionRoles(Operation *op, const AttentionShape &shape) {
  Roles roles;
  int64_t part = shape.width();
  roles["query"] = {0, 0, reads};
  roles["key"] = {0, part, reads};
  roles["value"] = {0, 2 * part, reads};
  int results = int(op->getNumOperands());
  if (isa<AttentionOp>(op)) {
    roles["output"] = {results, 0, writes};
    roles["logsumexp"] = {results + 1, 0, writes};
  } else {
    roles["output"] = {1, 0, reads};
    roles["logsumexp"] = {2, 0, reads};
    roles["gradient"] = {3, 0, reads};
    roles["query_gradient"] = {results, 0, writes};
    roles["key_gradient"] = {results, part, writes};
    roles["value_gradient"] = {results, 2 * part, writes};
  }
  return roles;
}

/// Operands and results in the order of `names`.
Roles rolesInOrder(Operation *op, ArrayRef<StringRef> names) {
  Roles roles;
  for (auto [i, name] : llvm::enumerate(names))
    roles[name] = {int(i), 0, i < op->getNumOperands() ? reads : writes};
  return roles;
}

} // namespace

const LibraryOp *LibraryOps::findIn(Answers &answers, LibraryPlanner &planner, Operation *op,
                                    bool lean) {
  std::string key = kernels::keyOf(op, {});
  auto found = answers.find(key);
  if (found == answers.end())
    found = answers.try_emplace(key, ask(planner, op)).first;
  const std::optional<LibraryOp> &chosen = lean ? found->second.leanest : found->second.op;
  return chosen ? &*chosen : nullptr;
}

const LibraryOp *LibraryOps::find(Operation *op, bool lean) {
  return planner ? findIn(answers, *planner, op, lean) : nullptr;
}

const LibraryOp *LibraryOps::findExact(Operation *op, bool lean) {
  const LibraryOp *first = find(op, lean);
  return first && first->plan.tensorCores && exactPlanner
             ? findIn(exactAnswers, *exactPlanner, op, lean)
             : nullptr;
}

LibraryOps::Answer LibraryOps::ask(LibraryPlanner &planner, Operation *op) {
  Answer answer;
  answer.name = op->getName().stripDialect().str();
  auto bound = [&](LibraryPlan plan, const Roles &roles) -> std::optional<LibraryOp> {
    LibraryOp call;
    call.name = answer.name;
    call.plan = std::move(plan);
    for (const LibraryPlan::Tensor &tensor : call.plan.tensors) {
      auto role = roles.find(tensor.role);
      if (role == roles.end()) {
        answer.reason = "the op has no tensor '" + tensor.role + "'";
        return std::nullopt;
      }
      call.bindings.push_back(role->second);
    }
    return call;
  };
  auto take = [&](PlanAnswer planned, const Roles &roles) {
    if (!planned.plan) {
      answer.reason = planned.reason;
      return;
    }
    // Each alternative has less workspace than the one before: the last has the least.
    LibraryPlan leanest =
        planned.alternatives.empty() ? *planned.plan : std::move(planned.alternatives.back());
    answer.op = bound(std::move(*planned.plan), roles);
    answer.leanest = bound(std::move(leanest), roles);
  };
  if (auto convolution = convolutionSpec(op)) {
    // The library does not sum the bias's gradient: a kernel of ours follows it.
    bool needsBiasGradient =
        convolution->direction == plan::Direction_BackwardWeights && convolution->bias;
    plan::ConvolutionSpecT asked = *convolution;
    asked.bias = asked.bias && !needsBiasGradient;
    take(planner.plan(asked), rolesOf(op, asked));
    for (std::optional<LibraryOp> *call : {&answer.op, &answer.leanest})
      if (*call)
        (*call)->needsBiasGradient = needsBiasGradient;
  } else if (auto product = matMulSpec(op)) {
    take(planner.plan(*product), rolesOf(op, *product));
  } else if (isa<AttentionOp, AttentionGradOp>(op)) {
    AttentionShape shape = attentionShape(op);
    if (shape.causal || shape.hasBias())
      return answer; // our kernels have masks
    AttentionGraph graph;
    graph.backward = isa<AttentionGradOp>(op);
    graph.batch = shape.batch, graph.sequence = shape.sequence;
    graph.heads = shape.heads, graph.headSize = shape.headSize;
    take(planner.plan(graph), attentionRoles(op, shape));
  } else if (auto norm = dyn_cast<LayerNormOp>(op)) {
    LayerNormGraph graph;
    graph.width = elementCount(norm.getWeight().getType());
    graph.rows = elementCount(norm.getInput().getType()) / graph.width;
    graph.epsilon = norm.getEpsilon().convertToFloat();
    take(planner.plan(graph),
         rolesInOrder(op, {"input", "weight", "bias", "output", "mean", "rstd"}));
  } else if (auto norm = dyn_cast<LayerNormGradOp>(op)) {
    LayerNormGraph graph;
    graph.backward = true;
    graph.width = elementCount(norm.getWeight().getType());
    graph.rows = elementCount(norm.getInput().getType()) / graph.width;
    take(planner.plan(graph),
         rolesInOrder(op, {"gradient", "input", "mean", "rstd", "weight", "input_gradient",
                           "weight_gradient", "bias_gradient"}));
  } else if (auto pool = dyn_cast<AvgPoolOp>(op); pool && !isPlain(pool)) {
    answer.reason = notPlain;
  } else if (auto pool = dyn_cast<AvgPoolGradOp>(op); pool && !isPlain(pool)) {
    answer.reason = notPlain;
  } else if (auto pool = dyn_cast<AvgPoolOp>(op)) {
    take(
        planner.plan(averageGraph(kernels::PoolWindows::of(pool, pool.getInput(), pool.getOutput()),
                                  /*backward=*/false)),
        rolesInOrder(op, {"input", "output"}));
  } else if (auto pool = dyn_cast<AvgPoolGradOp>(op)) {
    take(planner.plan(averageGraph(
             kernels::PoolWindows::of(pool, pool.getInputGradient(), pool.getGradient()),
             /*backward=*/true)),
         rolesInOrder(op, {"gradient", "input_gradient"}));
  } else if (isa<MaxPoolOp, MaxPoolGradOp>(op)) {
    answer.reason = "what the library's one-byte indices mean is not documented";
  } else {
    answer.name.clear(); // nothing that the library could run
  }
  return answer;
}

std::vector<LibraryOps::Refusal> LibraryOps::refusals() const {
  std::vector<Refusal> all;
  for (const auto &entry : answers) {
    const Answer &answer = entry.second;
    if (answer.op || answer.name.empty())
      continue;
    auto same = llvm::find_if(all, [&](const Refusal &refusal) {
      return refusal.name == answer.name && refusal.reason == answer.reason;
    });
    if (same == all.end())
      same = all.insert(all.end(), {answer.name, answer.reason, 0});
    ++same->ops;
  }
  llvm::sort(all, [](const Refusal &a, const Refusal &b) {
    return std::tie(a.name, a.reason) < std::tie(b.name, b.reason);
  });
  return all;
}

std::string LibraryOps::description() const {
  if (!planner)
    return "";
  return "cuDNN " + planner->libraryVersion() + ", planned with the " + planner->driver();
}

} // namespace gc::cuda
