// Pools over images.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

static const Order nhwc = {0, 2, 3, 1};

/// Whether no element can be below 0: then zeros at an edge never change a maximum.
static bool isNotNegative(Value x) {
  Operation *op = x.getDefiningOp();
  if (!op)
    return false;
  if (isa<ReluOp, SigmoidOp, ExpOp, SoftmaxOp>(op))
    return true;
  if (isa<MaxPoolOp, AvgPoolOp, ConcatOp, ReshapeOp, TransposeOp, SliceOp, PadOp, AddOp, MulOp>(op))
    return llvm::all_of(op->getOperands(), isNotNegative);
  return isa<DropoutOp>(op) && isNotNegative(op->getOperand(0));
}

struct Window {
  Shape kernel, strides, padding;
  Shape extra = {0, 0}; // rows below and columns to the right that the last window still reaches
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
  if (!window.fault.empty() || !call.truth("ceil_mode", false))
    return window;
  const TensorMeta *output = call.output();
  for (size_t i = 0; output && output->sizes.size() == 4 && i < 2; ++i) {
    int64_t size = x.layout.size(2 + i) + 2 * window.padding[i];
    int64_t reached = (output->sizes[2 + i] - 1) * window.strides[i] + window.kernel[i];
    window.extra[i] = std::max<int64_t>(reached - size, 0);
  }
  return window;
}

static std::vector<Tensor> maxPool(Call &call) {
  const Tensor &x = call.tensor("self");
  Window window = readWindow(call, x);
  if (!window.fault.empty())
    return call.refuse(window.fault);
  Value image = call.emit.ordered(x, nhwc);
  if (window.extra != Shape{0, 0}) {
    if (!isNotNegative(image))
      return call.refuse(
          "ceil_mode=True where the last window is cut: gc pads it with zeros, which "
          "only what is never negative (after a ReLU) allows");
    for (int64_t i = 0; i < 2; ++i)
      if (window.extra[i] > 0)
        image = call.emit.create<PadOp>(image, call.emit.i64(1 + i), call.emit.i64(0),
                                        call.emit.i64(window.extra[i]));
  }
  auto pool =
      call.emit.create<MaxPoolOp>(image, call.emit.array(window.kernel),
                                  call.emit.array(window.strides), call.emit.array(window.padding));
  return {call.emit.wrap(pool.getOutput(), nhwc)};
}

static std::vector<Tensor> avgPool(Call &call) {
  const Tensor &x = call.tensor("self");
  Window window = readWindow(call, x);
  if (!window.fault.empty())
    return call.refuse(window.fault);
  if (window.extra != Shape{0, 0})
    return call.refuse("ceil_mode=True where the last window is cut");
  if (call.has("divisor_override"))
    return call.refuse("it divides by another number than its elements");
  if (!call.truth("count_include_pad", true) && window.padding != Shape{0, 0})
    return call.refuse("count_include_pad=False: gc counts the padding as zeros");
  Value pool =
      call.emit.create<AvgPoolOp>(call.emit.ordered(x, nhwc), call.emit.array(window.kernel),
                                  call.emit.array(window.strides), call.emit.array(window.padding));
  return {call.emit.wrap(pool, nhwc)};
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
      part =
          emit.create<AvgPoolOp>(part, emit.array(window), emit.array(window), emit.array({0, 0}));
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
    Value pool =
        emit.create<AvgPoolOp>(image, emit.array(window), emit.array(window), emit.array({0, 0}));
    return {emit.wrap(pool, nhwc)};
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
