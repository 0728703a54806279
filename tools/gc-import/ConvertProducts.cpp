// Linear layers and products of matrices.
#include "tools/gc-import/Converters.h"
#include <map>

using namespace mlir;

namespace gc::importer {

Tensor linear(Emitter &emit, const Tensor &x, const Tensor &weight, const Tensor *bias) {
  size_t last = x.rank() - 1;
  Tensor here = x.variable || x.constant ? emit.inMemory(x) : x;
  const std::vector<int> &columns = here.layout.dims[last];
  int64_t inputs = x.layout.size(last), outputs = weight.layout.size(0);
  // Columns that are the end of memory, in whatever order, need no transpose: the weight's columns
  // have the same order then, in the layout of the weight file.
  int first = static_cast<int>(here.layout.sizes.size() - columns.size());
  bool trailing = llvm::all_of(columns, [&](int axis) { return axis >= first; });
  bool free = weight.variable && !weight.variable->isDeclared && weight.layout.isPlain() &&
              weight.shape() == weight.variable->meta.sizes;
  if (!trailing || !free)
    here = emit.withLast(here, last);
  const std::vector<int> placed = here.layout.dims[last];
  Value matrix;
  if (std::is_sorted(placed.begin(), placed.end())) {
    matrix = emit.plain(weight);
  } else {
    Shape split = {outputs};
    Order order(1 + placed.size(), 0);
    for (size_t digit = 0; digit < placed.size(); ++digit) {
      split.push_back(here.layout.sizes[placed[digit]]);
      order[1 + placed[digit] - first] = static_cast<int>(1 + digit);
    }
    matrix = emit.declare(*weight.variable, split, order, {outputs, inputs});
  }

  Shape shape = shapeOf(here.value);
  bool asItIs = !shape.empty() && shape.back() == inputs;
  if (!asItIs) {
    shape.assign(here.layout.sizes.begin(), here.layout.sizes.begin() + first);
    shape.push_back(inputs);
    if (shape.size() == 1)
      shape.insert(shape.begin(), 1);
  }
  Value result = emit.create<LinearOp>(emit.reshape(here.value, shape), matrix,
                                       bias ? emit.plain(*bias) : Value());
  Tensor out;
  out.value = result;
  out.layout = here.layout;
  // The columns are one axis now, the last one.
  std::vector<std::vector<int>> dims = here.layout.dims;
  dims[last].clear();
  out.layout.sizes.resize(static_cast<size_t>(first));
  if (outputs != 1) {
    dims[last].push_back(first);
    out.layout.sizes.push_back(outputs);
  }
  out.layout.dims = std::move(dims);
  return out;
}

static std::vector<Tensor> linearLayer(Call &call) {
  const Tensor &x = call.tensor("input"), &weight = call.tensor("weight");
  if (x.rank() < 1 || weight.rank() != 2)
    return call.refuse("its weight is no matrix");
  if (x.layout.size(x.rank() - 1) != weight.layout.size(1) ||
      !isRowOf(call.optional("bias"), weight.layout.size(0)))
    return call.refuse("its shapes do not fit");
  return {linear(call.emit, x, weight, call.optional("bias"))};
}

/// The leading dimensions of both, repeated to the same sizes.
static void broadcastLeading(Emitter &emit, Tensor &a, Tensor &b) {
  Shape aLead = a.shape(), bLead = b.shape();
  aLead.resize(aLead.size() - 2);
  bLead.resize(bLead.size() - 2);
  Shape lead = *broadcastShape(aLead, bLead);
  for (Tensor *each : {&a, &b}) {
    Shape shape = each->shape(), wanted = lead;
    wanted.insert(wanted.end(), shape.end() - 2, shape.end());
    *each = emit.expanded(*each, wanted);
  }
}

/// A matrix in the IR, or its transpose where it lies so.
static std::pair<Value, bool> matrix(Emitter &emit, const Tensor &x) {
  Order order = naturalOrder(x.rank()), swapped = order;
  std::swap(swapped[x.rank() - 1], swapped[x.rank() - 2]);
  Order axes = x.layout.axes(swapped);
  bool isSwapped = x.value && std::is_sorted(axes.begin(), axes.end()) && !x.layout.isPlain();
  return {emit.ordered(x, isSwapped ? swapped : order), isSwapped};
}

Tensor matrixProduct(Call &call, const Tensor &a, const Tensor &b) {
  Emitter &emit = call.emit;
  // x W with one W for all rows is a linear layer.
  if (b.rank() == 2 && a.rank() >= 2)
    return linear(emit, a, emit.permuted(b, {1, 0}), nullptr);
  Tensor left = a, right = b;
  broadcastLeading(emit, left, right);
  auto [lhs, lhsSwapped] = matrix(emit, left);
  auto [rhs, rhsSwapped] = matrix(emit, right);
  return emit.wrap(emit.create<MatmulOp>(lhs, rhs, lhsSwapped, rhsSwapped));
}

static std::vector<Tensor> productOf(Call &call, const char *lhs, const char *rhs) {
  Tensor a = call.tensor(lhs), b = call.tensor(rhs);
  if (a.rank() < 1 || b.rank() < 1)
    return call.refuse("its operands are no matrices");
  // Vectors are matrices of one row or column, which disappears again.
  Shape shape = call.output() ? call.output()->sizes : Shape();
  if (a.rank() == 1)
    a = call.emit.reshaped(a, {1, a.elements()});
  if (b.rank() == 1)
    b = call.emit.reshaped(b, {b.elements(), 1});
  Shape aLead = a.shape(), bLead = b.shape();
  if (aLead.back() != bLead[bLead.size() - 2])
    return call.refuse("its shapes do not fit");
  aLead.resize(aLead.size() - 2), bLead.resize(bLead.size() - 2);
  if (!broadcastShape(aLead, bLead))
    return call.refuse("its shapes do not fit");
  Tensor result = matrixProduct(call, a, b);
  if (product(shape) != result.elements())
    return call.refuse("its result has another shape than PyTorch says");
  return {call.emit.reshaped(result, shape)};
}

static std::vector<Tensor> addmm(Call &call) {
  if (call.number("beta", 1) != 1 || call.number("alpha", 1) != 1)
    return call.refuse("its factors alpha and beta are not 1");
  const Tensor &bias = call.tensor("self"), &x = call.tensor("mat1"), &weight = call.tensor("mat2");
  if (x.rank() != 2 || weight.rank() != 2 || x.layout.size(1) != weight.layout.size(0) ||
      !broadcastShape(bias.shape(), {x.layout.size(0), weight.layout.size(1)}))
    return call.refuse("its shapes do not fit");
  Tensor turned = call.emit.permuted(weight, {1, 0});
  if (bias.rank() == 1 && bias.layout.size(0) == weight.layout.size(1))
    return {linear(call.emit, x, turned, &bias)};
  return {addTensors(call.emit, linear(call.emit, x, turned, nullptr), bias)};
}

/// beta input + alpha a b
static std::vector<Tensor> baddbmm(Call &call) {
  Shape a = call.tensor("batch1").shape(), b = call.tensor("batch2").shape();
  if (a.size() != 3 || b.size() != 3 || a[0] != b[0] || a[2] != b[1] ||
      broadcastShape(call.tensor("self").shape(), {a[0], a[1], b[2]}) != Shape{a[0], a[1], b[2]})
    return call.refuse("its shapes do not fit");
  Tensor sum = scaled(call.emit, matrixProduct(call, call.tensor("batch1"), call.tensor("batch2")),
                      call.number("alpha", 1));
  double beta = call.number("beta", 1);
  if (beta == 0)
    return {sum};
  return {addTensors(call.emit, sum, scaled(call.emit, call.tensor("self"), beta))};
}

/// Two operands whose letters are of the batch, of one of them, or of both and summed.
static std::vector<Tensor> einsum(Call &call) {
  Emitter &emit = call.emit;
  std::string equation = call.text("equation", "");
  llvm::erase(equation, ' ');
  auto [inputs, output] = llvm::StringRef(equation).split("->");
  auto [first, second] = inputs.split(',');
  std::vector<Tensor> operands = call.list("tensors");
  bool plain = equation.find("->") != equation.npos && operands.size() == 2 &&
               equation.find("...") == equation.npos && !second.contains(',');
  auto distinct = [](llvm::StringRef letters) {
    for (size_t i = 0; i < letters.size(); ++i)
      if (letters.drop_front(i + 1).contains(letters[i]))
        return false;
    return true;
  };
  if (!plain || first.size() != operands[0].rank() || second.size() != operands[1].rank() ||
      !distinct(first) || !distinct(second) || !distinct(output))
    return call.refuse("'" + equation + "' is no product of two tensors");
  std::string batch, rows, columns, summed;
  for (char c : first)
    (second.contains(c) ? (output.contains(c) ? batch : summed) : rows) += c;
  for (char c : second)
    if (!first.contains(c))
      columns += c;
  for (char c : rows + columns)
    if (!output.contains(c))
      return call.refuse("'" + equation + "' also sums one operand alone");
  if (batch.size() + rows.size() + columns.size() != output.size())
    return call.refuse("'" + equation + "' has letters that no operand has");
  std::map<char, int64_t> sizes;
  for (auto [letters, tensor] : {std::pair{first, &operands[0]}, std::pair{second, &operands[1]}})
    for (size_t i = 0; i < letters.size(); ++i) {
      auto [known, isNew] = sizes.try_emplace(letters[i], tensor->layout.size(i));
      if (!isNew && known->second != tensor->layout.size(i))
        return call.refuse("its shapes do not fit");
    }
  auto joined = [&](const std::string &letters) {
    int64_t size = 1;
    for (char c : letters)
      size *= sizes[c];
    return size;
  };
  auto turned = [&](const Tensor &x, llvm::StringRef letters, const std::string &order,
                    const Shape &shape) {
    Order dimensions;
    for (char c : order)
      dimensions.push_back(static_cast<int>(letters.find(c)));
    return emit.reshaped(emit.permuted(x, dimensions), shape);
  };
  Tensor a = turned(operands[0], first, batch + rows + summed,
                    {joined(batch), joined(rows), joined(summed)});
  Tensor b = turned(operands[1], second, batch + summed + columns,
                    {joined(batch), joined(summed), joined(columns)});
  if (batch.empty()) {
    a = emit.reshaped(a, {joined(rows), joined(summed)});
    b = emit.reshaped(b, {joined(summed), joined(columns)});
  }
  Shape apart;
  std::string made = batch + rows + columns;
  for (char c : made)
    apart.push_back(sizes[c]);
  Order order;
  for (char c : output)
    order.push_back(static_cast<int>(made.find(c)));
  return {emit.permuted(emit.reshaped(matrixProduct(call, a, b), apart), order)};
}

void addProducts(ConverterTable &table) {
  table["aten.linear.default"] = linearLayer;
  table["aten.addmm.default"] = addmm;
  table["aten.baddbmm.default"] = baddbmm;
  table["aten.einsum.default"] = einsum;
  table["aten.matmul.default"] = [](Call &call) { return productOf(call, "self", "other"); };
  table["aten.mm.default"] = [](Call &call) { return productOf(call, "self", "mat2"); };
  table["aten.bmm.default"] = [](Call &call) { return productOf(call, "self", "mat2"); };
}

} // namespace gc::importer
