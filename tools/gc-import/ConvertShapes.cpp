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
    auto axis = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(x.rank()) : dim);
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
    if (std::max(low, high) > kLargestDimension)
      return call.refuse("it pads by more than a dimension may have");
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

/// Each dimension so many times, new ones in front.
static std::vector<Tensor> repeat(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  Shape times = call.integers("repeats", call.integers("dims", {}));
  const TensorMeta *output = call.output();
  if (!output || llvm::any_of(times, [](int64_t count) { return count < 1; }) ||
      product(times) < 0 || product(times) > output->elements())
    return call.refuse("it repeats nothing, or more than PyTorch says");
  if (times.size() < x.rank())
    times.insert(times.begin(), x.rank() - times.size(), 1);
  Shape apart, wide, joined, sizes(times.size() - x.rank(), 1);
  for (int64_t size : x.shape())
    sizes.push_back(size);
  for (auto [size, count] : llvm::zip_equal(sizes, times)) {
    apart.insert(apart.end(), {1, size});
    wide.insert(wide.end(), {count, size});
    joined.push_back(count * size);
  }
  if (wide.size() > 8) { // one dimension at a time, behind the others
    Tensor result = emit.reshaped(x, sizes);
    for (size_t dim = 0; dim < times.size(); ++dim)
      if (times[dim] > 1)
        result = emit.concatenated(std::vector<Tensor>(times[dim], result), dim);
    return {result};
  }
  return {emit.reshaped(emit.expanded(emit.reshaped(x, apart), wide), joined)};
}

static std::vector<Tensor> flip(Call &call) {
  Emitter &emit = call.emit;
  Tensor x = emit.wrap(emit.plain(call.tensor("self")));
  for (int64_t dim : call.integers("dims", {})) {
    dim = dim < 0 ? dim + static_cast<int64_t>(x.rank()) : dim;
    if (dim < 0 || dim >= static_cast<int64_t>(x.rank()))
      return call.refuse("a dimension is out of range");
    x = emit.wrap(emit.create<FlipOp>(x.value, emit.i64(dim)));
  }
  return {x};
}

/// Each pixel becomes a square of them.
static std::vector<Tensor> upsampleNearest(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input").rank() == 4 ? call.tensor("input") : call.tensor("self");
  const TensorMeta *output = call.output();
  if (x.rank() != 4 || !output || output->sizes.size() != 4)
    return call.refuse("gc enlarges batches of images, of 4 dimensions");
  Shape s = x.shape();
  int64_t down = output->sizes[2] / s[2], across = output->sizes[3] / s[3];
  if (down * s[2] != output->sizes[2] || across * s[3] != output->sizes[3])
    return call.refuse("it does not enlarge by a whole number");
  Value image = emit.reshape(emit.ordered(x, {0, 2, 3, 1}), {s[0], s[2], 1, s[3], 1, s[1]});
  Value wide = emit.broadcast(image, {s[0], s[2], down, s[3], across, s[1]}, {0, 1, 2, 3, 4, 5});
  return {emit.wrap(emit.reshape(wide, {s[0], output->sizes[2], output->sizes[3], s[1]}),
                    {0, 2, 3, 1})};
}

/// Between pixels: along an axis each output is a sum of two inputs, a product with known numbers.
static std::vector<Tensor> upsampleBilinear(Call &call) {
  Emitter &emit = call.emit;
  Tensor x = call.tensor("input").rank() == 4 ? call.tensor("input") : call.tensor("self");
  const TensorMeta *output = call.output();
  if (x.rank() != 4 || !output || output->sizes.size() != 4)
    return call.refuse("gc enlarges batches of images, of 4 dimensions");
  bool corners = call.truth("align_corners", false);
  std::vector<double> factors;
  if (const Argument *given = call.node.find("scale_factors"))
    factors = given->numbers;
  for (size_t dim : {size_t{2}, size_t{3}}) {
    int64_t from = x.layout.size(dim), to = output->sizes[dim];
    if (from == to)
      continue;
    double step = corners
                      ? (to > 1 ? double(from - 1) / double(to - 1) : 0)
                      : (factors.size() == 2 ? 1 / factors[dim - 2] : double(from) / double(to));
    auto weights = std::make_shared<Constant>(*filled(DType::F32, {to, from}, 0));
    for (int64_t i = 0; i < to; ++i) {
      double at = corners ? step * double(i) : std::max(step * (double(i) + 0.5) - 0.5, 0.0);
      auto below = std::min(static_cast<int64_t>(at), from - 1);
      auto above = std::min(below + 1, from - 1);
      double share = at - double(below);
      weights->values[static_cast<size_t>(i * from + below)] += 1 - share;
      weights->values[static_cast<size_t>(i * from + above)] += share;
    }
    // The axis last, times the weights, and back.
    Order last = dim == 2 ? Order{0, 1, 3, 2} : Order{0, 1, 2, 3};
    Tensor turned = linear(emit, emit.permuted(x, last), constantTensor(weights), nullptr);
    x = emit.permuted(turned, last);
  }
  return {x};
}

void addShapes(ConverterTable &table) {
  table["aten.cat.default"] = table["aten.concat.default"] = cat;
  table["aten.stack.default"] = stack;
  table["aten.repeat.default"] = table["aten.tile.default"] = repeat;
  table["aten.flip.default"] = flip;
  table["aten.upsample_nearest2d.vec"] = table["aten.upsample_nearest2d.default"] = upsampleNearest;
  table["aten.upsample_bilinear2d.vec"] = upsampleBilinear;
  table["aten.upsample_bilinear2d.default"] = upsampleBilinear;
  table["aten.roll.default"] = roll;
  table["aten.pad.default"] = table["aten.constant_pad_nd.default"] = pad;
  for (const char *name : {"aten.to.dtype", "aten.to.dtype_layout", "aten.to.device",
                           "aten._to_copy.default", "aten.type_as.default", "aten.to.other"})
    table[name] = cast;
}

} // namespace gc::importer
