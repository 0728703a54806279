#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

const Tensor *Call::optional(llvm::StringRef argument) const {
  const Argument *found = node.find(argument);
  if (!found || found->tensors.empty())
    return nullptr;
  auto known = tensors.find(found->tensors.front());
  return known == tensors.end() ? nullptr : &known->second;
}

const Tensor &Call::tensor(llvm::StringRef argument) const {
  static const Tensor none;
  const Tensor *found = optional(argument);
  if (!found && argument == "input")
    found = optional("self");
  return found ? *found : none;
}

std::vector<llvm::StringRef> requiredTensors(llvm::StringRef target) {
  using Names = std::vector<llvm::StringRef>;
  static const llvm::StringMap<Names> known = {
      {"conv1d", {"input", "weight"}},
      {"conv2d", {"input", "weight"}},
      {"conv_transpose2d", {"input", "weight"}},
      {"linear", {"input", "weight"}},
      {"batch_norm", {"input"}},
      {"layer_norm", {"input"}},
      {"group_norm", {"input"}},
      {"instance_norm", {"input"}},
      {"rms_norm", {"input"}},
      {"dropout", {"input"}},
      {"feature_dropout", {"input"}},
      {"upsample_nearest2d", {"input"}},
      {"upsample_bilinear2d", {"input"}},
      {"addmm", {"self", "mat1", "mat2"}},
      {"matmul", {"self", "other"}},
      {"mm", {"self", "mat2"}},
      {"bmm", {"self", "mat2"}},
      {"baddbmm", {"self", "batch1", "batch2"}},
      {"maximum", {"self", "other"}},
      {"minimum", {"self", "other"}},
      {"scaled_dot_product_attention", {"query", "key", "value"}},
      {"embedding", {"weight", "indices"}},
      {"cross_entropy_loss", {"self", "target"}},
      {"mse_loss", {"self", "target"}},
      {"nll_loss_nd", {"self", "target"}},
      {"nll_loss", {"self", "target"}},
      {"l1_loss", {"self", "target"}},
      {"huber_loss", {"self", "target"}},
      {"smooth_l1_loss", {"self", "target"}},
      {"binary_cross_entropy_with_logits", {"self", "target"}},
      {"kl_div", {"self", "target"}},
      {"masked_fill", {"self", "mask"}},
      {"where", {"condition"}},
      {"cat", {"tensors"}},
      {"concat", {"tensors"}},
      {"stack", {"tensors"}},
      {"einsum", {"tensors"}},
      {"empty", {}},
      {"empty_like", {}},
      {"new_empty", {}},
      {"bernoulli", {}},
  };
  target.consume_front("aten.");
  auto found = known.find(target.take_until([](char c) { return c == '.'; }));
  return found == known.end() ? Names{"self"} : found->second;
}

std::vector<Tensor> Call::list(llvm::StringRef argument) const {
  std::vector<Tensor> result;
  if (const Argument *found = node.find(argument))
    for (const std::string &name : found->tensors)
      if (auto known = tensors.find(name); known != tensors.end())
        result.push_back(known->second);
  return result;
}

double Call::number(llvm::StringRef argument, double usual) const {
  const Argument *found = node.find(argument);
  return found && found->kind == Argument::Kind::Number ? found->numbers[0] : usual;
}

int64_t Call::integer(llvm::StringRef argument, int64_t usual) const {
  double value = number(argument, static_cast<double>(usual));
  return std::abs(value) < 9e15 ? static_cast<int64_t>(value) : usual;
}

Shape Call::integers(llvm::StringRef argument, const Shape &usual, size_t count) const {
  const Argument *found = node.find(argument);
  if (!found || found->numbers.empty())
    return usual;
  Shape result;
  for (double each : found->numbers)
    result.push_back(std::abs(each) < 9e15 ? static_cast<int64_t>(each) : 0);
  if (result.size() == 1 && count > 1)
    result.assign(count, result[0]);
  return result;
}

bool Call::has(llvm::StringRef argument) const {
  const Argument *found = node.find(argument);
  return found && found->kind != Argument::Kind::None;
}

std::string Call::text(llvm::StringRef argument, llvm::StringRef usual) const {
  const Argument *found = node.find(argument);
  return found && found->kind == Argument::Kind::Text ? found->text : usual.str();
}

size_t Call::dim(llvm::StringRef argument, int64_t usual, const Tensor &x) const {
  int64_t dim = integer(argument, usual), rank = static_cast<int64_t>(x.rank());
  dim = dim < 0 ? dim + rank : dim;
  return static_cast<size_t>(std::clamp<int64_t>(dim, 0, std::max<int64_t>(rank - 1, 0)));
}

const TensorMeta *Call::output(size_t index) const {
  return index < node.outputs.size() ? program.find(node.outputs[index]) : nullptr;
}

bool isRowOf(const Tensor *x, int64_t size) {
  return !x || (x->rank() == 1 && x->layout.size(0) == size);
}

bool windowFits(int64_t input, int64_t output, int64_t kernel, int64_t stride, int64_t padding,
                int64_t dilation, bool ceil) {
  constexpr int64_t most = kLargestDimension;
  for (int64_t each : {kernel, stride, dilation})
    if (each < 1 || each > most)
      return false;
  if (padding < 0 || padding > most || dilation * (kernel - 1) > most)
    return false;
  int64_t free = input + 2 * padding - dilation * (kernel - 1) - 1;
  if (free < 0)
    return false;
  int64_t expected = (free + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (expected - 1) * stride >= input + padding)
    --expected;
  return expected == output;
}

const ConverterTable &converters() {
  static const ConverterTable table = [] {
    ConverterTable all;
    addConvolutions(all);
    addElementwise(all);
    addActivations(all);
    addNorms(all);
    addPools(all);
    addProducts(all);
    addAttention(all);
    addReductions(all);
    addRandom(all);
    addShapes(all);
    addLosses(all);
    return all;
  }();
  return table;
}

} // namespace gc::importer
