//===- Encoder.cpp - torch.nn.TransformerEncoder --------------------------===//
//
// Post-norm, ReLU, no dropout. Its `image` is already [batch, sequence, width]: there is no
// embedding and no position. PyTorch copies its first layer, so that all start equal; here each
// draws its own values.
//
//===----------------------------------------------------------------------===//
#include "models/CheckSizes.h"
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {

static Value encoderLayer(ModelBuilder &model, const std::string &layer, Value x, int64_t heads,
                          int64_t ffn) {
  constexpr double epsilon = 1e-5;
  int64_t width = channels(x);
  std::string attention = layer + ".self_attn";
  Value weight = model.parameter(attention + ".in_proj_weight", {3 * width, width},
                                 xavierUniform(width, 3 * width));
  Value bias = model.parameter(attention + ".in_proj_bias", {3 * width}, constant(0.0));
  Value y = model.create<LinearOp>(attention + ".in_proj", x, weight, bias);
  y = model.attention(attention, y, heads);
  // torch.nn.MultiheadAttention zeroes only the bias of this one.
  LayerInit projection{layerDefault(width).weight, constant(0.0)};
  y = model.linear(attention + ".out_proj", y, width, projection);
  x = model.layerNorm(layer + ".norm1", model.add(layer + ".add1", x, y), epsilon);

  y = model.relu(layer + ".relu", model.linear(layer + ".linear1", x, ffn));
  y = model.linear(layer + ".linear2", y, width);
  return model.layerNorm(layer + ".norm2", model.add(layer + ".add2", x, y), epsilon);
}

Network buildEncoder(MLIRContext &context, const EncoderOptions &options) {
  if (auto error = checkSizes({{"layers", options.layers, 1, 4096},
                               {"width", options.width},
                               {"heads", options.heads},
                               {"ffn", options.ffn},
                               {"sequence", options.sequence},
                               {"batch", options.batch},
                               {"classes", options.classes}}))
    return error;
  if (options.width % options.heads != 0)
    return badSize("--width=" + llvm::Twine(options.width) + " is not a multiple of --heads=" +
                   llvm::Twine(options.heads) + ": heads share the width evenly");

  ModelBuilder model(context, "encoder", options.classes,
                     {options.batch, options.sequence, options.width});
  Value x = model.input();
  for (int64_t i = 0; i < options.layers; ++i)
    x = encoderLayer(model, "layers." + std::to_string(i), x, options.heads, options.ffn);
  x = model.globalAvgPool("mean", x);
  return model.finish(model.linear("head", x, options.classes));
}

} // namespace gc::models
