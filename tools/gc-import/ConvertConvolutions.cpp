// Convolutions: images become NHWC here, filters OHWI in the weight file's layout.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

static const Order nhwc = {0, 2, 3, 1};

static std::vector<Tensor> conv2d(Call &call) {
  const Tensor &x = call.tensor("input"), &weight = call.tensor("weight");
  if (x.rank() != 4 || weight.rank() != 4)
    return call.refuse("gc convolves batches of images, of 4 dimensions");
  Shape strides = call.integers("stride", {1, 1}, 2),
        dilation = call.integers("dilation", {1, 1}, 2);
  Shape padding = call.integers("padding", {0, 0}, 2), shape = weight.shape();
  if (std::string mode = call.text("padding", ""); mode == "same") {
    for (size_t i = 0; i < 2; ++i) {
      int64_t total = dilation[i] * (shape[2 + i] - 1);
      if (total % 2 != 0)
        return call.refuse("padding='same' of an even kernel pads more at one end");
      padding[i] = total / 2;
    }
  }
  int64_t groups = call.integer("groups", 1);
  if (groups < 1 || x.layout.size(1) != shape[1] * groups || shape[0] % groups != 0)
    return call.refuse("its filter does not fit its input");
  const Tensor *bias = call.optional("bias");
  const TensorMeta *output = call.output();
  bool fits = output && output->sizes.size() == 4 && isRowOf(bias, shape[0]);
  for (size_t i = 0; fits && i < 2; ++i)
    fits = strides.size() == 2 && padding.size() == 2 && dilation.size() == 2 &&
           windowFits(x.layout.size(2 + i), output->sizes[2 + i], shape[2 + i], strides[i],
                      padding[i], dilation[i], false);
  if (!fits)
    return call.refuse("its result has another shape than PyTorch says");
  Value image = call.emit.ordered(x, nhwc), filter = call.emit.ordered(weight, nhwc);
  Value result = call.emit.create<Conv2dOp>(image, filter, bias ? call.emit.plain(*bias) : Value(),
                                            strides, padding, dilation, groups);
  return {call.emit.wrap(result, nhwc)};
}

/// The gradient of a convolution's input, of which the file's filter is the filter.
static std::vector<Tensor> convTranspose2d(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input"), &weight = call.tensor("weight");
  const TensorMeta *output = call.output();
  if (x.rank() != 4 || weight.rank() != 4 || !output || output->sizes.size() != 4)
    return call.refuse("gc convolves batches of images, of 4 dimensions");
  Shape strides = call.integers("stride", {1, 1}, 2),
        dilation = call.integers("dilation", {1, 1}, 2);
  Shape padding = call.integers("padding", {0, 0}, 2);
  const Shape &sizes = output->sizes;
  Shape window = weight.shape();
  int64_t groups = call.integer("groups", 1);
  const Tensor *bias = call.optional("bias");
  bool fits = groups > 0 && x.layout.size(1) == window[0] && window[0] % groups == 0 &&
              sizes[1] == window[1] * groups && isRowOf(bias, sizes[1]);
  for (size_t i = 0; fits && i < 2; ++i)
    fits = strides.size() == 2 && padding.size() == 2 && dilation.size() == 2 &&
           windowFits(sizes[2 + i], x.layout.size(2 + i), window[2 + i], strides[i], padding[i],
                      dilation[i], false);
  if (!fits)
    return call.refuse("its filter does not fit its input");
  Value image = emit.ordered(x, nhwc), filter = emit.ordered(weight, nhwc);
  auto type = RankedTensorType::get({sizes[0], sizes[2], sizes[3], sizes[1]},
                                    emit.attributes().getF32Type());
  Value result = emit.create<Conv2dGradInputOp>(
      type, image, filter, emit.attributes().getDenseI64ArrayAttr(strides), emit.array(padding),
      emit.array(dilation), emit.i64(groups));
  if (bias)
    result = emit.create<BiasOp>(result, emit.plain(*bias));
  return {emit.wrap(result, nhwc)};
}

/// In one dimension: an image of one row.
static std::vector<Tensor> conv1d(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input"), &weight = call.tensor("weight");
  if (x.rank() != 3 || weight.rank() != 3)
    return call.refuse("gc convolves batches of rows, of 3 dimensions");
  Shape size = x.shape(), window = weight.shape();
  Shape stride = call.integers("stride", {1}), dilation = call.integers("dilation", {1});
  Shape padding = call.integers("padding", {0});
  if (!call.text("padding", "").empty())
    return call.refuse("padding='" + call.text("padding", "") + "': give it as a number");
  const TensorMeta *output = call.output();
  int64_t groups = call.integer("groups", 1);
  const Tensor *bias = call.optional("bias");
  if (groups < 1 || size[1] != window[1] * groups || window[0] % groups != 0 || !output ||
      output->sizes.size() != 3 || !isRowOf(bias, window[0]) || stride.size() != 1 ||
      padding.size() != 1 || dilation.size() != 1 ||
      !windowFits(size[2], output->sizes[2], window[2], stride[0], padding[0], dilation[0], false))
    return call.refuse("its filter does not fit its input");
  Value row = emit.reshape(emit.ordered(x, {0, 2, 1}), {size[0], 1, size[2], size[1]});
  Value filter =
      emit.reshape(emit.ordered(weight, {0, 2, 1}), {window[0], 1, window[2], window[1]});
  Value result =
      emit.create<Conv2dOp>(row, filter, bias ? emit.plain(*bias) : Value(), Shape{1, stride[0]},
                            Shape{0, padding[0]}, Shape{1, dilation[0]}, groups);
  Shape out = shapeOf(result);
  return {emit.wrap(emit.reshape(result, {out[0], out[2], out[3]}), {0, 2, 1})};
}

void addConvolutions(ConverterTable &table) {
  table["aten.conv2d.default"] = conv2d;
  table["aten.conv2d.padding"] = conv2d;
  table["aten.conv1d.default"] = conv1d;
  table["aten.conv_transpose2d.input"] = convTranspose2d;
}

} // namespace gc::importer
