// Norms. What they normalize over becomes the last axes of memory.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

static std::vector<Tensor> batchNorm(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input");
  const Tensor *weight = call.optional("weight"), *bias = call.optional("bias");
  const Tensor *mean = call.optional("running_mean"), *variance = call.optional("running_var");
  if (x.rank() < 2)
    return call.refuse("its input has no channels");
  if (!call.truth("training", true))
    return call.refuse("it normalizes with running statistics: export model.train()");
  if (mean && (!mean->variable || !variance || !variance->variable))
    return call.refuse("its running statistics are no buffers");
  FloatAttr epsilon = emit.f32(call.number("eps", 1e-5));
  Tensor here = emit.withLast(x, 1);
  int64_t channels = x.layout.size(1), count = x.elements() / channels;
  if (count < 2)
    return call.refuse("one value a channel has no variance");
  if (!isRowOf(weight, channels) || !isRowOf(bias, channels) || !isRowOf(mean, channels) ||
      !isRowOf(variance, channels) || !(call.number("eps", 1e-5) >= 0))
    return call.refuse("its parameters do not fit its channels");
  if (!call.has("momentum") && call.node.find("momentum"))
    return call.refuse("momentum=None: gc moves statistics by a share");
  // Any rows will do; those that are there are kept.
  Shape shape = shapeOf(here.value);
  if (shape.empty() || shape.back() != channels)
    shape = {count, channels};
  Value w = emit.plain(weight ? *weight : emit.filledWith({channels}, 1));
  Value b = emit.plain(bias ? *bias : emit.filledWith({channels}, 0));
  auto norm = emit.create<BatchNormOp>(emit.reshape(here.value, shape), w, b, epsilon);
  if (mean) {
    auto perChannel = RankedTensorType::get({channels}, emit.attributes().getF32Type());
    double momentum = call.number("momentum", 0.1);
    for (const Tensor *each : {mean, variance}) {
      Variable &variable = *each->variable;
      if (variable.isDeclared)
        return call.refuse("two batch norms share the statistics '" + variable.name + "'");
      variable.isDeclared = true;
      emit.declareState(variable.name, StateRole::RunningStatistic, perChannel,
                        models::constant(each == mean ? 0.0 : 1.0));
    }
    auto symbol = [&](const Tensor *of) {
      return FlatSymbolRefAttr::get(emit.attributes().getContext(), of->variable->name);
    };
    emit.create<RunningStatsOp>(symbol(mean), symbol(variance), norm.getMean(), norm.getRstd(),
                                emit.f32(momentum), epsilon, emit.i64(count));
  }
  return {emit.like(here, emit.reshape(norm.getOutput(), shapeOf(here.value)))};
}

/// The last `count` dimensions as one.
static Tensor joined(Emitter &emit, const Tensor &x, size_t count) {
  Shape shape = x.shape();
  int64_t last = 1;
  for (size_t i = 0; i < count; ++i) {
    last *= shape.back();
    shape.pop_back();
  }
  shape.push_back(last);
  return emit.reshaped(x, shape);
}

static std::vector<Tensor> layerNorm(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input");
  const Tensor *weight = call.optional("weight"), *bias = call.optional("bias");
  size_t over = call.integers("normalized_shape", {}).size();
  if (over == 0 || over > x.rank())
    return call.refuse("it normalizes nothing");
  Tensor rows = joined(emit, x, over);
  int64_t columns = rows.layout.size(rows.rank() - 1);
  for (const Tensor *each : {weight, bias})
    if (each && (each->rank() != over || each->elements() != columns))
      return call.refuse("its parameters do not fit its columns");
  if (!(call.number("eps", 1e-5) >= 0))
    return call.refuse("its epsilon is negative");
  Tensor here = emit.withLast(rows, rows.rank() - 1);
  Tensor ones = emit.filledWith({columns}, 1), zeros = emit.filledWith({columns}, 0);
  Shape shape = shapeOf(here.value);
  if (shape.empty() || shape.back() != columns)
    shape = {x.elements() / columns, columns};
  Value w = emit.plain(weight ? joined(emit, *weight, over) : ones);
  Value b = emit.plain(bias ? joined(emit, *bias, over) : zeros);
  auto norm = emit.create<LayerNormOp>(emit.reshape(here.value, shape), w, b,
                                       emit.f32(call.number("eps", 1e-5)));
  Tensor result = emit.like(here, emit.reshape(norm.getOutput(), shapeOf(here.value)));
  return {emit.reshaped(result, x.shape())};
}

static std::vector<Tensor> groupNorm(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input");
  const Tensor *weight = call.optional("weight"), *bias = call.optional("bias");
  int64_t groups = call.integer("num_groups", 1);
  if (x.rank() < 2 || groups < 1 || x.layout.size(1) % groups != 0)
    return call.refuse("its input has no such groups");
  if (!isRowOf(weight, x.layout.size(1)) || !isRowOf(bias, x.layout.size(1)) ||
      !(call.number("eps", 1e-5) >= 0))
    return call.refuse("its parameters do not fit its channels");
  // [N, C, ...] to [N, rest, 1, C].
  int64_t batch = x.layout.size(0), channels = x.layout.size(1);
  Order order = {0};
  for (size_t dim = 2; dim < x.rank(); ++dim)
    order.push_back(static_cast<int>(dim));
  order.push_back(1);
  Value image = emit.ordered(x, order);
  Shape shape = shapeOf(image);
  if (shape.size() != 4)
    image = emit.reshape(image, {batch, x.elements() / (batch * channels), 1, channels});
  Value w = emit.plain(weight ? *weight : emit.filledWith({channels}, 1));
  Value b = emit.plain(bias ? *bias : emit.filledWith({channels}, 0));
  auto norm =
      emit.create<GroupNormOp>(image, w, b, emit.f32(call.number("eps", 1e-5)), emit.i64(groups));
  return {emit.wrap(emit.reshape(norm.getOutput(), shape), order)};
}

/// x / sqrt(mean(x^2) + eps) * weight over the last dimension.
static std::vector<Tensor> rmsNorm(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input");
  if (call.integers("normalized_shape", {}).size() != 1 || x.rank() == 0)
    return call.refuse("it normalizes over several dimensions");
  Tensor here = emit.withLast(x, x.rank() - 1);
  int64_t columns = x.layout.size(x.rank() - 1), rows = x.elements() / columns;
  Value matrix = emit.reshape(here.value, {rows, columns});
  Value squares = emit.create<PowOp>(matrix.getType(), matrix, emit.f32(2));
  Value mean = emit.create<ReduceMeanOp>(squares, emit.array({1}));
  double epsilon = call.number("eps", 1.1920928955078125e-07);
  Value moved = emit.create<AddScalarOp>(mean.getType(), mean, emit.f32(epsilon));
  Value scale = emit.create<RsqrtOp>(mean.getType(), moved);
  Value result =
      emit.create<MulOp>(matrix.getType(), matrix, emit.broadcast(scale, {rows, columns}, {0}));
  Tensor normed = emit.like(here, emit.reshape(result, shapeOf(here.value)));
  const Tensor *weight = call.optional("weight");
  if (!isRowOf(weight, columns))
    return call.refuse("its weight does not fit its columns");
  return {weight ? multiply(emit, normed, *weight) : normed};
}

/// A group norm with a group a channel.
static std::vector<Tensor> instanceNorm(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("input");
  const Tensor *weight = call.optional("weight"), *bias = call.optional("bias");
  if (x.rank() != 4)
    return call.refuse("gc normalizes batches of images, of 4 dimensions");
  if (!call.truth("use_input_stats", true) || call.optional("running_mean"))
    return call.refuse("it has running statistics");
  int64_t channels = x.layout.size(1);
  if (!isRowOf(weight, channels) || !isRowOf(bias, channels))
    return call.refuse("its parameters do not fit its channels");
  Value w = emit.plain(weight ? *weight : emit.filledWith({channels}, 1));
  Value b = emit.plain(bias ? *bias : emit.filledWith({channels}, 0));
  Value result = emit.create<GroupNormOp>(emit.ordered(x, {0, 2, 3, 1}), w, b,
                                          emit.f32(call.number("eps", 1e-5)), emit.i64(channels))
                     .getOutput();
  return {emit.wrap(result, {0, 2, 3, 1})};
}

void addNorms(ConverterTable &table) {
  table["aten.batch_norm.default"] = batchNorm;
  table["aten.layer_norm.default"] = layerNorm;
  table["aten.group_norm.default"] = groupNorm;
  table["aten.rms_norm.default"] = rmsNorm;
  table["aten.instance_norm.default"] = instanceNorm;
}

} // namespace gc::importer
