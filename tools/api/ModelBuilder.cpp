#include "api/ModelBuilder.h"

#include "mlir/IR/MLIRContext.h"
#include "models/ModelBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

namespace gc {

using mlir::Value;
using runtime::badInput;
using runtime::Result;

struct ModelBuilder::State {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::optional<models::ModelBuilder> builder; // none where the input cannot be
  std::set<std::string> names;
  int64_t batch = 0, classes = 0;
  std::string fault; // the first one

  void fail(const std::string &what) {
    if (fault.empty())
      fault = what;
  }
  /// Makes a layer unless `needs` says what is wrong with it, or something was before.
  Tensor layer(const std::string &name, const Tensor &x, const std::string &needs,
               llvm::function_ref<Value(Value)> make);
};

static Value valueOf(void *opaque) { return Value::getFromOpaquePointer(opaque); }

static std::vector<int64_t> shapeOf(Value value) {
  auto shape = llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  return {shape.begin(), shape.end()};
}

std::vector<int64_t> Tensor::shape() const {
  return value ? shapeOf(valueOf(value)) : std::vector<int64_t>();
}

ModelBuilder::ModelBuilder(const std::string &name, const std::vector<int64_t> &inputShape,
                           int64_t classes)
    : state(std::make_unique<State>()) {
  state->classes = classes;
  bool fits = !inputShape.empty() && inputShape.size() <= kLargestRank && classes >= 1 &&
              classes <= kLargestDimension;
  double bytes = 4;
  for (int64_t size : inputShape) {
    fits = fits && size >= 1 && size <= kLargestDimension;
    bytes *= static_cast<double>(size);
  }
  std::string fault = faultOfName(name);
  if (!fits || bytes > static_cast<double>(kLargestBytes))
    fault = fmt::format("no input of [{}] with {} classes can be", fmt::join(inputShape, ", "),
                        classes);
  if (!fault.empty()) {
    state->fail(fmt::format("model '{}': {}", name, fault));
    return;
  }
  state->batch = inputShape[0];
  state->builder.emplace(state->context, name, classes, inputShape);
}
Tensor ModelBuilder::State::layer(const std::string &name, const Tensor &x,
                                  const std::string &needs, llvm::function_ref<Value(Value)> make) {
  Tensor result;
  auto failed = [&](const std::string &why) {
    fail(fmt::format("layer '{}' of [{}]: {}", name, fmt::join(x.shape(), ", "), why));
    return result;
  };
  if (!fault.empty())
    return result;
  if (std::string why = faultOfName(name); !why.empty())
    return failed(why);
  if (!names.insert(name).second)
    return failed("there is another layer of this name");
  if (!x.value)
    return failed("its input is of no model");
  if (!needs.empty())
    return failed(needs);
  Value made = make(valueOf(x.value));
  if (!isWithinLimits(made.getType()))
    return failed("it is too large");
  result.value = made.getAsOpaquePointer();
  return result;
}

ModelBuilder::~ModelBuilder() = default;
ModelBuilder::ModelBuilder(ModelBuilder &&) noexcept = default;

Tensor ModelBuilder::input() const {
  Tensor result;
  if (state->builder)
    result.value = state->builder->input().getAsOpaquePointer();
  return result;
}

/// Whether windows of this size fit into an image, padded at both sides.
static bool windowFits(const std::vector<int64_t> &shape, int64_t kernel, int64_t stride,
                       int64_t padding) {
  return shape.size() == 4 && kernel >= 1 && stride >= 1 && padding >= 0 && padding <= kernel &&
         kernel <= kLargestDimension && stride <= kLargestDimension &&
         std::min(shape[1], shape[2]) + 2 * padding >= kernel;
}
static const char *const windowNeeds =
    "it takes [batch, height, width, channels], and a window that fits into the image";

static bool isSize(int64_t size) { return size >= 1 && size <= kLargestDimension; }

Tensor ModelBuilder::conv(const std::string &name, Tensor x, const Convolution &shape) {
  bool fits =
      windowFits(x.shape(), shape.kernel, shape.stride, shape.padding) && isSize(shape.outputs);
  return state->layer(name, x, fits ? "" : windowNeeds, [&](Value value) {
    return state->builder->conv(name, value,
                                {shape.outputs, shape.kernel, shape.stride, shape.padding});
  });
}

Tensor ModelBuilder::linear(const std::string &name, Tensor x, int64_t outputs) {
  bool fits = x.shape().size() >= 2 && isSize(outputs);
  return state->layer(name, x,
                      fits ? "" : "it takes at least [batch, inputs], and makes one output or more",
                      [&](Value value) { return state->builder->linear(name, value, outputs); });
}

Tensor ModelBuilder::batchNorm(const std::string &name, Tensor x) {
  return state->layer(name, x,
                      x.shape().size() == 4 ? "" : "it takes [batch, height, width, channels]",
                      [&](Value value) { return state->builder->batchNorm(name, value); });
}

Tensor ModelBuilder::groupNorm(const std::string &name, Tensor x, int64_t groups) {
  std::vector<int64_t> shape = x.shape();
  bool fits = shape.size() == 4 && groups >= 1 && shape.back() % groups == 0;
  return state->layer(
      name, x,
      fits ? "" : "it takes [batch, height, width, channels], and groups that divide the channels",
      [&](Value value) { return state->builder->groupNorm(name, value, groups); });
}

Tensor ModelBuilder::layerNorm(const std::string &name, Tensor x, double epsilon) {
  bool fits = x.shape().size() >= 2 && epsilon >= 0 && std::isfinite(epsilon);
  return state->layer(name, x,
                      fits ? "" : "it takes at least [batch, width], and an epsilon from 0 on",
                      [&](Value value) { return state->builder->layerNorm(name, value, epsilon); });
}

Tensor ModelBuilder::relu(const std::string &name, Tensor x) {
  return state->layer(name, x, "", [&](Value value) { return state->builder->relu(name, value); });
}

Tensor ModelBuilder::gelu(const std::string &name, Tensor x) {
  return state->layer(name, x, "", [&](Value value) { return state->builder->gelu(name, value); });
}

Tensor ModelBuilder::add(const std::string &name, Tensor a, Tensor b) {
  bool fits = b.value && a.shape() == b.shape();
  return state->layer(
      name, a, fits ? "" : fmt::format("it is added to [{}]", fmt::join(b.shape(), ", ")),
      [&](Value value) { return state->builder->add(name, value, valueOf(b.value)); });
}

Tensor ModelBuilder::dropout(const std::string &name, Tensor x, double probability) {
  return state->layer(
      name, x, probability >= 0 && probability < 1 ? "" : "its probability is not in [0, 1)",
      [&](Value value) { return state->builder->dropout(name, value, probability); });
}

Tensor ModelBuilder::maxPool(const std::string &name, Tensor x, const Pool &shape) {
  bool fits = windowFits(x.shape(), shape.kernel, shape.stride, shape.padding) &&
              2 * shape.padding <= shape.kernel && shape.kernel <= 11;
  return state->layer(name, x, fits ? "" : windowNeeds, [&](Value value) {
    return state->builder->maxPool(name, value, {shape.kernel, shape.stride, shape.padding});
  });
}

Tensor ModelBuilder::globalAvgPool(const std::string &name, Tensor x) {
  return state->layer(name, x, x.shape().size() >= 3 ? "" : "it takes [batch, ..., channels]",
                      [&](Value value) { return state->builder->globalAvgPool(name, value); });
}

Tensor ModelBuilder::attention(const std::string &name, Tensor qkv, int64_t heads) {
  std::vector<int64_t> shape = qkv.shape();
  bool fits = shape.size() == 3 && heads >= 1 && heads <= shape[2] && shape[2] % (3 * heads) == 0;
  return state->layer(
      name, qkv, fits ? "" : "it takes [batch, positions, 3 * width], and heads that divide width",
      [&](Value value) { return state->builder->attention(name, value, heads); });
}

Tensor ModelBuilder::reshape(const std::string &name, Tensor x, const std::vector<int64_t> &shape) {
  std::optional<int64_t> had = boundedProduct(x.shape(), kLargestBytes);
  bool fits = had && shape.size() <= kLargestRank && boundedProduct(shape, kLargestBytes) == had;
  return state->layer(
      name, x,
      fits ? "" : fmt::format("[{}] has another number of elements", fmt::join(shape, ", ")),
      [&](Value value) { return state->builder->reshape(name, value, shape); });
}

Tensor ModelBuilder::flatten(const std::string &name, Tensor x) {
  std::vector<int64_t> shape = x.shape();
  int64_t elements = 1;
  for (size_t i = 1; i < shape.size(); ++i)
    elements *= shape[i];
  return reshape(name, x, {shape.empty() ? 0 : shape[0], elements});
}

Result<std::string> ModelBuilder::finish(Tensor logits) {
  std::vector<int64_t> shape = {state->batch, state->classes};
  if (state->fault.empty() && (!logits.value || logits.shape() != shape))
    state->fail(fmt::format("the logits are [{}], expected [{}]", fmt::join(logits.shape(), ", "),
                            fmt::join(shape, ", ")));
  if (!state->fault.empty())
    return badInput(state->fault);
  models::Network network = state->builder->finish(valueOf(logits.value));
  if (!network)
    return badInput(llvm::toString(network.takeError()));
  std::string text;
  llvm::raw_string_ostream out(text);
  (*network)->print(out, mlir::OpPrintingFlags().enableDebugInfo());
  state->fail("the builder is spent");
  return text;
}

} // namespace gc
