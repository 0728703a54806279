// Pools over images.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

static const Order nhwc = {0, 2, 3, 1};

struct Window {
  Shape kernel, strides, padding;
  std::string fault;
};

static Window readWindow(Call &call, const Tensor &x) {
  Window window;
  window.kernel = call.integers("kernel_size", {1, 1}, 2);
  window.strides = call.integers("stride", window.kernel, 2);
  window.padding = call.integers("padding", {0, 0}, 2);
  if (x.rank() != 4)
    window.fault = "gc pools batches of images, of 4 dimensions";
  if (call.integers("dilation", {1, 1}, 2) != Shape{1, 1})
    window.fault = "gc has no dilated pools";
  const TensorMeta *output = call.output();
  for (size_t i = 0; window.fault.empty() && i < 2; ++i)
    if (!output || output->sizes.size() != 4 || window.kernel.size() != 2 ||
        window.strides.size() != 2 || window.padding.size() != 2 ||
        2 * window.padding[i] > window.kernel[i] ||
        !windowFits(x.layout.size(2 + i), output->sizes[2 + i], window.kernel[i], window.strides[i],
                    window.padding[i], 1, call.truth("ceil_mode", false)))
      window.fault = "its result has another shape than PyTorch says";
  return window;
}

static std::vector<Tensor> maxPool(Call &call) {
  const Tensor &x = call.tensor("self");
  Window window = readWindow(call, x);
  if (!window.fault.empty())
    return call.refuse(window.fault);
  if (window.kernel[0] * window.kernel[1] > 127)
    return call.refuse("its window has more than 127 elements");
  Value image = call.emit.ordered(x, nhwc);
  auto pool = call.emit.create<MaxPoolOp>(
      image, call.emit.array(window.kernel), call.emit.array(window.strides),
      call.emit.array(window.padding), call.truth("ceil_mode", false));
  return {call.emit.wrap(pool.getOutput(), nhwc)};
}

static std::vector<Tensor> avgPool(Call &call) {
  const Tensor &x = call.tensor("self");
  Window window = readWindow(call, x);
  if (!window.fault.empty())
    return call.refuse(window.fault);
  if (call.has("divisor_override"))
    return call.refuse("it divides by another number than its elements");
  Value pool = call.emit.create<AvgPoolOp>(
      call.emit.ordered(x, nhwc), call.emit.array(window.kernel), call.emit.array(window.strides),
      call.emit.array(window.padding), call.truth("ceil_mode", false),
      call.truth("count_include_pad", true));
  return {call.emit.wrap(pool, nhwc)};
}

/// Of windows side by side.
static Value meanOfWindows(Emitter &emit, Value x, const Shape &window) {
  return emit.create<AvgPoolOp>(x, emit.array(window), emit.array(window), emit.array({0, 0}),
                                /*ceil_mode=*/false, /*count_include_pad=*/true);
}

// Output i of `size` is the mean of inputs floor(i * n / size) to ceil((i + 1) * n / size).
static Value averageAxis(Emitter &emit, Value x, int64_t axis, int64_t size) {
  int64_t n = shapeOf(x)[axis];
  if (n == size)
    return x;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < size; ++i) {
    int64_t begin = i * n / size, end = ((i + 1) * n + size - 1) / size;
    Value part = emit.slice(x, axis, begin, end - begin);
    if (end - begin > 1) {
      Shape window = {axis == 1 ? end - begin : 1, axis == 2 ? end - begin : 1};
      part = meanOfWindows(emit, part, window);
    }
    parts.push_back(part);
  }
  return emit.concat(parts, axis);
}

static std::vector<Tensor> adaptiveAvgPool(Call &call) {
  const Tensor &x = call.tensor("self");
  if (x.rank() != 4)
    return call.refuse("gc pools batches of images, of 4 dimensions");
  const TensorMeta *output = call.output();
  if (!output || output->sizes.size() != 4)
    return call.refuse("its output is unknown");
  int64_t rows = output->sizes[2], columns = output->sizes[3];
  int64_t height = x.layout.size(2), width = x.layout.size(3);
  if (rows == height && columns == width)
    return {x};
  Emitter &emit = call.emit;
  Value image = emit.ordered(x, nhwc);
  Shape shape = shapeOf(image);
  if (rows == 1 && columns == 1) {
    Value mean = emit.create<GlobalAvgPoolOp>(image);
    return {emit.wrap(emit.reshape(mean, {shape[0], 1, 1, shape[3]}), nhwc)};
  }
  if (height == 1 && width == 1)
    return {
        emit.wrap(emit.broadcast(image, {shape[0], rows, columns, shape[3]}, {0, 1, 2, 3}), nhwc)};
  if (height % rows == 0 && width % columns == 0) {
    Shape window = {height / rows, width / columns};
    return {emit.wrap(meanOfWindows(emit, image, window), nhwc)};
  }
  // A window's rows all have the same length, so the mean of row means is its mean.
  return {emit.wrap(averageAxis(emit, averageAxis(emit, image, 1, rows), 2, columns), nhwc)};
}

void addPools(ConverterTable &table) {
  table["aten.max_pool2d.default"] = maxPool;
  table["aten.avg_pool2d.default"] = avgPool;
  table["aten.adaptive_avg_pool2d.default"] = adaptiveAvgPool;
}

} // namespace gc::importer
