#include "tools/gc-import/Views.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace mlir;

namespace gc::importer {

static llvm::StringRef nameOf(llvm::StringRef target) {
  target.consume_front("aten.");
  return target.take_until([](char c) { return c == '.'; });
}

bool isViewTarget(llvm::StringRef target) {
  static const llvm::StringSet<> names = {"view",
                                          "reshape",
                                          "_unsafe_view",
                                          "flatten",
                                          "unflatten",
                                          "unsqueeze",
                                          "squeeze",
                                          "permute",
                                          "transpose",
                                          "swapaxes",
                                          "swapdims",
                                          "t",
                                          "numpy_T",
                                          "mT",
                                          "movedim",
                                          "moveaxis",
                                          "slice",
                                          "select",
                                          "narrow",
                                          "split",
                                          "chunk",
                                          "unbind",
                                          "expand",
                                          "split_with_sizes",
                                          "unsafe_split",
                                          "unsafe_chunk",
                                          "detach",
                                          "alias",
                                          "contiguous",
                                          "clone",
                                          "lift_fresh_copy",
                                          "pixel_shuffle",
                                          "pixel_unshuffle",
                                          "channel_shuffle",
                                          "broadcast_to",
                                          "view_as",
                                          "reshape_as",
                                          "expand_as",
                                          "tensor_split"};
  return target.starts_with("aten.") && names.contains(nameOf(target)) &&
         target != "aten.view.dtype";
}

namespace {

constexpr int64_t largestElements = (int64_t{1} << 31) - 1;

/// Whether a tensor with these strides can be seen in another shape without a copy.
bool isViewable(const TensorMeta &meta, const Shape &shape) {
  // Runs of dimensions that lie as one are what may be split anew.
  std::vector<std::pair<int64_t, int64_t>> runs; // elements, innermost stride
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    if (meta.sizes[i] == 1)
      continue;
    bool joins = !runs.empty() && runs.back().second == meta.sizes[i] * meta.strides[i];
    if (joins)
      runs.back() = {runs.back().first * meta.sizes[i], meta.strides[i]};
    else
      runs.emplace_back(meta.sizes[i], meta.strides[i]);
  }
  size_t run = 0;
  int64_t have = 1;
  for (int64_t size : shape) {
    if (size == 1)
      continue;
    if (run == runs.size())
      return false;
    have *= size;
    if (runs[run].first % have != 0)
      return false;
    if (have == runs[run].first) {
      ++run;
      have = 1;
    }
  }
  return true;
}

class ViewReader {
public:
  ViewReader(const Node &node, const TensorMeta &input) : node(node), input(input) {
    rank = static_cast<int64_t>(input.sizes.size());
  }

  ViewResult run() {
    read(nameOf(node.target));
    return std::move(result);
  }

private:
  void read(llvm::StringRef name) {
    const Shape &sizes = input.sizes;
    if (name == "view" || name == "_unsafe_view" || name == "reshape")
      return reshape(inferred(integers(name == "reshape" ? "shape" : "size")));
    if (name == "flatten")
      return flatten();
    if (name == "unflatten")
      return unflatten();
    if (name == "unsqueeze") {
      int64_t dim = integer("dim", 0);
      Shape shape = sizes;
      dim = dim < 0 ? dim + rank + 1 : dim;
      if (dim < 0 || dim > rank)
        return fail("a dimension is out of range");
      shape.insert(shape.begin() + dim, 1);
      return reshape(shape);
    }
    if (name == "squeeze")
      return squeeze();
    if (name == "permute") {
      Order order;
      for (int64_t each : integers("dims"))
        order.push_back(static_cast<int>(dimension(each)));
      return permute(order);
    }
    if (name == "transpose" || name == "swapdims")
      return swap(integer("dim0", 0), integer("dim1", 0));
    if (name == "swapaxes")
      return swap(integer("axis0", 0), integer("axis1", 0));
    if (name == "t")
      return rank < 2 ? same() : swap(0, 1);
    if (name == "mT")
      return swap(-2, -1);
    if (name == "numpy_T") {
      Order order = naturalOrder(sizes.size());
      std::reverse(order.begin(), order.end());
      return permute(order);
    }
    if (name == "movedim" || name == "moveaxis")
      return moveDims();
    if (name == "slice")
      return slice();
    if (name == "select")
      return select(dimension(integer("dim", 0)), integer("index", 0));
    if (name == "narrow")
      return part(dimension(integer("dim", 0)), integer("start", 0), integer("length", 1));
    if (name == "split" || name == "split_with_sizes" || name == "unsafe_split" ||
        name == "chunk" || name == "unsafe_chunk" || name == "tensor_split")
      return split(name);
    if (name == "unbind") {
      int64_t dim = dimension(integer("dim", 0));
      for (int64_t i = 0; result.fault.empty() && i < sizes[dim]; ++i)
        select(dim, i);
      return;
    }
    if (name == "expand" || name == "broadcast_to")
      return expand(integers("size"));
    if (name == "contiguous" || name == "clone" || name == "lift_fresh_copy") {
      result.isCopy = name != "contiguous" || !input.isContiguous();
      return same();
    }
    if (name == "pixel_shuffle" || name == "pixel_unshuffle" || name == "channel_shuffle")
      return shuffle(name);
    if (name == "detach")
      return fail("no gradient goes through it: gc cannot hold one back");
    if (name == "alias")
      return same();
    fail("");
  }

  void fail(const std::string &why) {
    if (result.fault.empty())
      result.fault = why.empty() ? "not known" : why;
  }

  int64_t integer(llvm::StringRef argument, int64_t usual) {
    const Argument *found = node.find(argument);
    return found && found->kind == Argument::Kind::Number && std::abs(found->numbers[0]) < 9e15
               ? static_cast<int64_t>(found->numbers[0])
               : (found && found->kind == Argument::Kind::Number && found->numbers[0] > 0
                      ? INT64_MAX
                      : usual);
  }
  Shape integers(llvm::StringRef argument) {
    const Argument *found = node.find(argument);
    Shape values;
    if (found)
      for (double each : found->numbers)
        values.push_back(static_cast<int64_t>(each));
    return values;
  }
  int64_t dimension(int64_t dim) {
    dim = dim < 0 ? dim + rank : dim;
    if (dim >= 0 && dim < rank)
      return dim;
    fail("a dimension is out of range");
    return 0;
  }
  ViewSteps &add(ViewStep step) {
    result.outputs.push_back({std::move(step)});
    return result.outputs.back();
  }
  void same() { result.outputs.emplace_back(); }

  Shape inferred(Shape shape) {
    int64_t known = 1, open = -1;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] < 0)
        open = static_cast<int64_t>(i);
      else if (__builtin_mul_overflow(known, shape[i], &known))
        known = -1;
    if (open >= 0)
      shape[open] = known > 0 ? product(input.sizes) / known : 0;
    return shape;
  }
  void reshape(const Shape &shape) {
    if (product(shape) != product(input.sizes) ||
        llvm::any_of(shape, [](int64_t s) { return s < 1; }))
      return fail("its shape does not fit its input");
    result.isCopy = !isViewable(input, shape);
    add({ViewStep::Kind::Reshape, shape, {}});
  }
  void permute(const Order &order) {
    Order sorted = order;
    llvm::sort(sorted);
    if (sorted != naturalOrder(input.sizes.size()))
      return fail("it does not name each dimension once");
    add({ViewStep::Kind::Permute, {}, order});
  }
  void swap(int64_t a, int64_t b) {
    Order order = naturalOrder(input.sizes.size());
    a = dimension(a), b = dimension(b);
    if (!result.fault.empty())
      return;
    std::swap(order[a], order[b]);
    permute(order);
  }
  void moveDims() {
    Shape from = integers("source"), to = integers("destination");
    if (from.size() != to.size())
      return fail("it moves dimensions to other ones");
    Order order(input.sizes.size(), -1);
    for (size_t i = 0; i < from.size(); ++i) {
      from[i] = dimension(from[i]);
      if (result.fault.empty())
        order[dimension(to[i])] = static_cast<int>(from[i]);
    }
    int next = 0;
    for (int &place : order)
      if (place < 0) {
        while (llvm::is_contained(from, next))
          ++next;
        place = next++;
      }
    permute(order);
  }
  void flatten() {
    int64_t first = integer("start_dim", 0), last = integer("end_dim", -1);
    if (rank == 0)
      return reshape({1});
    first = dimension(first), last = dimension(last);
    if (first > last)
      return fail("it flattens from behind");
    Shape shape(input.sizes.begin(), input.sizes.begin() + first);
    shape.push_back(product(Shape(input.sizes.begin() + first, input.sizes.begin() + last + 1)));
    shape.insert(shape.end(), input.sizes.begin() + last + 1, input.sizes.end());
    reshape(shape);
  }
  void unflatten() {
    int64_t dim = dimension(integer("dim", 0));
    Shape sizes = integers("sizes");
    if (!result.fault.empty() || sizes.empty())
      return fail("it has no sizes");
    Shape shape(input.sizes.begin(), input.sizes.begin() + dim);
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    shape.insert(shape.end(), input.sizes.begin() + dim + 1, input.sizes.end());
    reshape(inferred(shape));
  }
  void squeeze() {
    Shape dims = integers("dim"), shape;
    bool all = !node.find("dim");
    for (int64_t &dim : dims)
      dim = dimension(dim);
    for (int64_t i = 0; i < rank; ++i)
      if (input.sizes[i] != 1 || !(all || llvm::is_contained(dims, i)))
        shape.push_back(input.sizes[i]);
    reshape(shape);
  }
  void slice() {
    int64_t dim = dimension(integer("dim", 0)), step = integer("step", 1);
    if (!result.fault.empty() || step < 1)
      return fail("it has no positive step");
    int64_t size = input.sizes[dim], start = integer("start", 0), end = integer("end", INT64_MAX);
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
    end = std::clamp<int64_t>(end < 0 ? end + size : end, start, size);
    if (step == 1)
      return part(dim, start, end - start);
    // x[start::step] is column `start` of rows of `step`.
    if (size % step != 0 || start >= step || end < size - step + start + 1)
      return fail("it takes every n-th element of what n does not divide");
    Shape rows = input.sizes, kept = input.sizes;
    rows[dim] = size / step;
    rows.insert(rows.begin() + dim + 1, step);
    kept[dim] = size / step;
    ViewSteps &steps = add({ViewStep::Kind::Reshape, rows, {}});
    steps.push_back({ViewStep::Kind::Slice, {}, {}, static_cast<size_t>(dim + 1), start, 1});
    steps.push_back({ViewStep::Kind::Reshape, kept, {}});
  }
  void part(int64_t dim, int64_t start, int64_t size) {
    if (!result.fault.empty())
      return;
    start = start < 0 ? start + input.sizes[dim] : start;
    if (start < 0 || size < 1 || start > input.sizes[dim] - size)
      return fail("it takes nothing, or more than there is");
    if (result.outputs.size() >= node.outputs.size())
      return fail("it has more parts than results");
    add({ViewStep::Kind::Slice, {}, {}, static_cast<size_t>(dim), start, size});
  }
  void select(int64_t dim, int64_t index) {
    part(dim, index, 1);
    if (!result.fault.empty())
      return;
    Shape shape = input.sizes;
    shape.erase(shape.begin() + dim);
    result.outputs.back().push_back({ViewStep::Kind::Reshape, shape, {}});
  }
  void split(llvm::StringRef name) {
    int64_t dim = dimension(integer("dim", 0));
    if (!result.fault.empty())
      return;
    int64_t size = input.sizes[dim];
    Shape sizes;
    if (name.ends_with("chunk")) {
      int64_t chunks = std::clamp<int64_t>(integer("chunks", 1), 1, std::max<int64_t>(size, 1));
      sizes = {(size + chunks - 1) / chunks};
    } else if (name == "tensor_split") {
      int64_t sections = integer("sections", 0);
      if (sections < 1)
        return fail("it splits at places");
      if (sections > static_cast<int64_t>(node.outputs.size()))
        return fail("it has more parts than results");
      for (int64_t i = 0; i < sections; ++i)
        sizes.push_back(size / sections + (i < size % sections));
    } else {
      // Sizes of the parts, or one for all.
      for (const char *argument : {"split_size", "split_sizes"})
        if (node.find(argument))
          sizes = integers(argument);
    }
    if (sizes.empty() || llvm::any_of(sizes, [](int64_t s) { return s < 1; }))
      return fail("its sizes are none");
    int64_t start = 0;
    for (size_t i = 0; start < size && result.fault.empty(); ++i) {
      int64_t each = sizes.size() == 1 ? sizes[0] : i < sizes.size() ? sizes[i] : 0;
      each = std::min(each, size - start);
      part(dim, start, each);
      start += each;
    }
  }
  void expand(const Shape &sizes) {
    Shape shape = sizes;
    if (static_cast<int64_t>(shape.size()) < rank)
      return fail("it has fewer dimensions than its input");
    size_t added = shape.size() - input.sizes.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0)
        shape[i] = i < added ? 0 : input.sizes[i - added];
      if (shape[i] < 1 ||
          (i >= added && input.sizes[i - added] != 1 && input.sizes[i - added] != shape[i]))
        return fail("its shape does not fit its input");
    }
    if (product(shape) < 0 || product(shape) > largestElements)
      return fail("its result is larger than any tensor of gc");
    add({ViewStep::Kind::Expand, shape, {}});
  }
  // [N, C r r, H, W] to [N, C, H r, W r] and back; [N, g C, H, W] to [N, C g, H, W].
  void shuffle(llvm::StringRef name) {
    result.isCopy = true;
    if (rank != 4)
      return fail("it is known for batches of images");
    const Shape &s = input.sizes;
    int64_t r = integer(name == "pixel_shuffle"     ? "upscale_factor"
                        : name == "pixel_unshuffle" ? "downscale_factor"
                                                    : "groups",
                        1);
    Shape apart, joined;
    Order order;
    if (name == "channel_shuffle") {
      apart = {s[0], r, s[1] / r, s[2], s[3]}, order = {0, 2, 1, 3, 4}, joined = s;
    } else if (name == "pixel_shuffle") {
      apart = {s[0], s[1] / (r * r), r, r, s[2], s[3]}, order = {0, 1, 4, 2, 5, 3};
      joined = {s[0], s[1] / (r * r), s[2] * r, s[3] * r};
    } else {
      apart = {s[0], s[1], s[2] / r, r, s[3] / r, r}, order = {0, 1, 3, 5, 2, 4};
      joined = {s[0], s[1] * r * r, s[2] / r, s[3] / r};
    }
    if (product(apart) != product(s))
      return fail("its factor does not divide its input");
    ViewSteps &steps = add({ViewStep::Kind::Reshape, apart, {}});
    steps.push_back({ViewStep::Kind::Permute, {}, order});
    steps.push_back({ViewStep::Kind::Reshape, joined, {}});
  }

  const Node &node;
  const TensorMeta &input;
  int64_t rank;
  ViewResult result;
};

} // namespace

ViewResult viewSteps(const Node &node, const TensorMeta &input) {
  return ViewReader(node, input).run();
}

Tensor apply(Emitter &emitter, const ViewStep &step, const Tensor &x) {
  switch (step.kind) {
  case ViewStep::Kind::Reshape:
    return emitter.reshaped(x, step.shape);
  case ViewStep::Kind::Permute:
    return emitter.permuted(x, step.order);
  case ViewStep::Kind::Slice:
    return emitter.sliced(x, step.dim, step.start, step.size);
  case ViewStep::Kind::Expand:
    return emitter.expanded(x, step.shape);
  }
  llvm_unreachable("a kind of view");
}

std::optional<Tensor> writeThrough(Emitter &emitter, const ViewStep &step, const Tensor &whole,
                                   const Tensor &part) {
  switch (step.kind) {
  case ViewStep::Kind::Reshape:
    return emitter.reshaped(part, whole.shape());
  case ViewStep::Kind::Permute: {
    Order back(step.order.size());
    for (size_t i = 0; i < back.size(); ++i)
      back[step.order[i]] = static_cast<int>(i);
    return emitter.permuted(part, back);
  }
  case ViewStep::Kind::Slice: {
    int64_t end = step.start + step.size, size = whole.layout.size(step.dim);
    std::vector<Tensor> parts;
    if (step.start > 0)
      parts.push_back(emitter.sliced(whole, step.dim, 0, step.start));
    parts.push_back(part);
    if (end < size)
      parts.push_back(emitter.sliced(whole, step.dim, end, size - end));
    return emitter.concatenated(parts, step.dim);
  }
  case ViewStep::Kind::Expand:
    return std::nullopt;
  }
  llvm_unreachable("a kind of view");
}

} // namespace gc::importer
