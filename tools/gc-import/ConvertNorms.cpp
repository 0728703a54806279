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
  if (!weight || !bias)
    return call.refuse("affine=False: gc's batch norm has a weight and a bias");
  if (!call.truth("training", true))
    return call.refuse("it normalizes with running statistics: export model.train()");
  if (mean && (!mean->variable || !variance || !variance->variable))
    return call.refuse("its running statistics are no buffers");
  FloatAttr epsilon = emit.f32(call.number("eps", 1e-5));
  Tensor here = emit.withLast(x, 1);
  int64_t channels = x.layout.size(1), count = x.elements() / channels;
  if (count < 2)
    return call.refuse("one value a channel has no variance");
  // Any rows will do; those that are there are kept.
  Shape shape = shapeOf(here.value);
  if (shape.empty() || shape.back() != channels)
    shape = {count, channels};
  auto norm = emit.create<BatchNormOp>(emit.reshape(here.value, shape), emit.plain(*weight),
                                       emit.plain(*bias), epsilon);
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
  Tensor here = emit.withLast(rows, rows.rank() - 1);
  Tensor ones = emit.filledWith({columns}, 1), zeros = emit.filledWith({columns}, 0);
  if ((!weight || !bias) && !Emitter::hasConstants)
    return call.refuse("elementwise_affine=False or bias=False: gc's layer norm has a weight and a "
                       "bias");
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
  if ((!weight || !bias) && !Emitter::hasConstants)
    return call.refuse("affine=False: gc's group norm has a weight and a bias");
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

void addNorms(ConverterTable &table) {
  table["aten.batch_norm.default"] = batchNorm;
  table["aten.layer_norm.default"] = layerNorm;
  table["aten.group_norm.default"] = groupNorm;
}

} // namespace gc::importer
