// Joining and moving. What only looks at a tensor in another way is in Views.cpp.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

static std::vector<Tensor> cat(Call &call) {
  std::vector<Tensor> parts = call.list("tensors");
  if (parts.empty())
    return call.refuse("it joins nothing");
  size_t dim = call.dim("dim", 0, parts[0]);
  for (const Tensor &part : parts) {
    if (part.rank() != parts[0].rank() || part.rank() == 0)
      return call.refuse("it joins tensors of different ranks");
    for (size_t each = 0; each < part.rank(); ++each)
      if (each != dim && part.layout.size(each) != parts[0].layout.size(each))
        return call.refuse("its shapes do not fit");
  }
  return {call.emit.concatenated(parts, dim)};
}

static std::vector<Tensor> stack(Call &call) {
  std::vector<Tensor> parts = call.list("tensors");
  const TensorMeta *output = call.output();
  if (parts.empty() || !output || output->sizes.size() != parts[0].rank() + 1)
    return call.refuse("it joins nothing");
  int64_t dim = call.integer("dim", 0), rank = static_cast<int64_t>(parts[0].rank()) + 1;
  dim = std::clamp<int64_t>(dim < 0 ? dim + rank : dim, 0, rank - 1);
  for (Tensor &part : parts) {
    Shape shape = part.shape();
    shape.insert(shape.begin() + dim, 1);
    part = call.emit.reshaped(part, shape);
  }
  return {call.emit.concatenated(parts, static_cast<size_t>(dim))};
}

/// Elements move on by `shift`, and those that leave come in at the other end.
static std::vector<Tensor> roll(Call &call) {
  Tensor x = call.tensor("self");
  Shape shifts = call.integers("shifts", {}), dims = call.integers("dims", {});
  if (shifts.size() != dims.size())
    return call.refuse("it rolls the whole tensor as one row");
  for (auto [shift, dim] : llvm::zip_equal(shifts, dims)) {
    size_t axis = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(x.rank()) : dim);
    if (axis >= x.rank())
      return call.refuse("a dimension is out of range");
    int64_t size = x.layout.size(axis), by = ((shift % size) + size) % size;
    if (by != 0)
      x = call.emit.concatenated(
          {call.emit.sliced(x, axis, size - by, by), call.emit.sliced(x, axis, 0, size - by)},
          axis);
  }
  return {x};
}

static std::vector<Tensor> pad(Call &call) {
  Emitter &emit = call.emit;
  Tensor x = call.tensor("self");
  std::string mode = call.text("mode", "constant");
  if (mode != "constant" || call.number("value", 0) != 0)
    return call.refuse("mode='" + mode + "', or a value that is not 0: gc pads with zeros");
  Shape amounts = call.integers("pad", {});
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > x.rank())
    return call.refuse("it pads more dimensions than there are");
  // From the last dimension on: before, after.
  for (size_t i = 0; i < amounts.size(); i += 2) {
    size_t dim = x.rank() - 1 - i / 2;
    int64_t low = amounts[i], high = amounts[i + 1];
    if (low < 0 || high < 0) {
      int64_t start = std::max<int64_t>(-low, 0);
      int64_t size = x.layout.size(dim) - start - std::max<int64_t>(-high, 0);
      if (size < 1)
        return call.refuse("it cuts everything off");
      x = emit.sliced(x, dim, start, size);
      low = std::max<int64_t>(low, 0), high = std::max<int64_t>(high, 0);
    }
    if (low == 0 && high == 0)
      continue;
    Order order = naturalOrder(x.rank());
    if (x.rank() == 4 && x.value && !x.layout.isPlain())
      order = {0, 2, 3, 1};
    int64_t axis = llvm::find(order, static_cast<int>(dim)) - order.begin();
    x = emit.wrap(
        emit.create<PadOp>(emit.ordered(x, order), emit.i64(axis), emit.i64(low), emit.i64(high)),
        order);
  }
  return {x};
}

static std::vector<Tensor> cast(Call &call) {
  const TensorMeta *output = call.output();
  const Tensor &x = call.tensor("self");
  if (!output || isFloat(output->dtype) != isFloat(x.dtype))
    return call.refuse("it turns what is computed into numbers of another kind");
  return {x};
}

void addShapes(ConverterTable &table) {
  table["aten.cat.default"] = table["aten.concat.default"] = cat;
  table["aten.stack.default"] = stack;
  table["aten.roll.default"] = roll;
  table["aten.pad.default"] = table["aten.constant_pad_nd.default"] = pad;
  for (const char *name : {"aten.to.dtype", "aten.to.dtype_layout", "aten.to.device",
                           "aten._to_copy.default", "aten.type_as.default", "aten.to.other"})
    table[name] = cast;
}

} // namespace gc::importer
