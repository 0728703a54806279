//===- ModelBuilderLayers.cpp - layers that declare their parameters ------===//
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {

/// PyTorch's filters are OIHW, ours OHWI.
static FileLayout filterLayout(int64_t outputs, int64_t inputs, int64_t kernel) {
  return {{outputs, inputs, kernel, kernel}, {outputs, inputs, kernel, kernel}, {0, 2, 3, 1}};
}

Value ModelBuilder::conv(StringRef name, Value x, ConvShape shape, std::optional<LayerInit> init) {
  int64_t inputs = channels(x);
  LayerInit start = init ? *init : layerDefault(inputs * shape.kernel * shape.kernel);
  FileLayout layout = filterLayout(shape.outputs, inputs, shape.kernel);
  Value weight =
      parameter((name + ".weight").str(), {shape.outputs, shape.kernel, shape.kernel, inputs},
                start.weight, &layout);
  Value bias =
      start.bias ? parameter((name + ".bias").str(), {shape.outputs}, *start.bias) : Value();
  return create<Conv2dOp>(name, x, weight, bias, ArrayRef<int64_t>{shape.stride, shape.stride},
                          ArrayRef<int64_t>{shape.padding, shape.padding});
}

Value ModelBuilder::patchEmbed(StringRef name, Value x, int64_t patch, int64_t width) {
  int64_t inputs = channels(x);
  LayerInit start = layerDefault(inputs * patch * patch);
  FileLayout layout = filterLayout(width, inputs, patch);
  Value weight =
      parameter((name + ".weight").str(), {width, patch, patch, inputs}, start.weight, &layout);
  Value bias = parameter((name + ".bias").str(), {width}, *start.bias);
  return create<PatchEmbedOp>(name, x, weight, bias);
}

Value ModelBuilder::linear(StringRef name, Value x, int64_t outputs, std::optional<LayerInit> init,
                           const FileLayout *layout) {
  int64_t inputs = channels(x);
  LayerInit start = init ? *init : layerDefault(inputs);
  Value weight = parameter((name + ".weight").str(), {outputs, inputs}, start.weight, layout);
  Value bias = start.bias ? parameter((name + ".bias").str(), {outputs}, *start.bias) : Value();
  return create<LinearOp>(name, x, weight, bias);
}

/// Weight one and bias zero for each channel: how every norm starts.
std::pair<Value, Value> ModelBuilder::affine(StringRef name, Value x) {
  Value weight = parameter((name + ".weight").str(), {channels(x)}, constant(1.0));
  Value bias = parameter((name + ".bias").str(), {channels(x)}, constant(0.0));
  return {weight, bias};
}

Value ModelBuilder::batchNorm(StringRef name, Value x) {
  FloatAttr epsilon = number(1e-5);
  auto [weight, bias] = affine(name, x);
  auto perChannel = RankedTensorType::get({channels(x)}, builder.getF32Type());
  std::string mean = (name + ".running_mean").str(), variance = (name + ".running_var").str();
  state(mean, StateRole::RunningStatistic, perChannel, constant(0.0));
  state(variance, StateRole::RunningStatistic, perChannel, constant(1.0));

  auto norm = create<BatchNormOp>(name, x, weight, bias, epsilon);
  int64_t count = elementCount(x.getType()) / channels(x);
  create<RunningStatsOp>((name + ".running_stats").str(),
                         FlatSymbolRefAttr::get(builder.getContext(), mean),
                         FlatSymbolRefAttr::get(builder.getContext(), variance), norm.getMean(),
                         norm.getRstd(), number(0.1), epsilon, builder.getI64IntegerAttr(count));
  return norm.getOutput();
}

Value ModelBuilder::groupNorm(StringRef name, Value x, int64_t groups) {
  auto [weight, bias] = affine(name, x);
  return create<GroupNormOp>(name, x, weight, bias, number(1e-5), builder.getI64IntegerAttr(groups))
      .getOutput();
}

Value ModelBuilder::layerNorm(StringRef name, Value x, double epsilon) {
  auto [weight, bias] = affine(name, x);
  return create<LayerNormOp>(name, x, weight, bias, number(epsilon)).getOutput();
}

Value ModelBuilder::relu(StringRef name, Value x) { return create<ReluOp>(name, x.getType(), x); }

Value ModelBuilder::gelu(StringRef name, Value x) {
  return create<GeluOp>(name, x.getType(), x, GeluForm::None);
}

Value ModelBuilder::add(StringRef name, Value a, Value b) {
  return create<AddOp>(name, a.getType(), a, b);
}

Value ModelBuilder::dropout(StringRef name, Value x, double probability) {
  if (probability == 0)
    return x;
  auto pair = RankedTensorType::get({2}, builder.getI64Type()); // seed and step
  if (dropouts == 0)
    state("generator", StateRole::Generator, pair, constant(0.0));
  Value generator = read("generator", pair);
  return create<DropoutOp>(name, x, generator, /*micro_batch=*/Value(), number(probability),
                           builder.getI64IntegerAttr(dropouts++));
}

Value ModelBuilder::attention(StringRef name, Value qkv, int64_t heads) {
  return create<AttentionOp>(name, qkv, Value(), builder.getI64IntegerAttr(heads), UnitAttr())
      .getOutput();
}

} // namespace gc::models
