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
  if (call.integer("groups", 1) != 1)
    return call.refuse("groups=" + llvm::Twine(call.integer("groups", 1)) +
                       ": gc has no grouped convolutions yet");
  if (dilation != Shape{1, 1})
    return call.refuse("gc has no dilated convolutions yet");
  Value image = call.emit.ordered(x, nhwc), filter = call.emit.ordered(weight, nhwc);
  const Tensor *bias = call.optional("bias");
  Value result = call.emit.create<Conv2dOp>(image, filter, bias ? call.emit.plain(*bias) : Value(),
                                            strides, padding);
  return {call.emit.wrap(result, nhwc)};
}

void addConvolutions(ConverterTable &table) {
  table["aten.conv2d.default"] = conv2d;
  table["aten.conv2d.padding"] = conv2d;
}

} // namespace gc::importer
