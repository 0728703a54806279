// A network, written in C++: each layer has a name, declares its parameters under it as PyTorch
// does (`fc.weight`, `fc.bias`), and starts with PyTorch's initial values.
//
//   gc::ModelBuilder model("tiny", {32, 28, 28, 1}, /*classes=*/10);
//   gc::Tensor x = model.relu("relu", model.conv("conv", model.input(), {.outputs = 8, .kernel =
//   3})); auto text = model.finish(model.linear("fc", model.globalAvgPool("pool", x), 10));
//
// Of what does not fit, the first error is kept, and finish() returns it: layers need no checks of
// their own. Nothing of MLIR is in sight.
#ifndef GC_API_MODELBUILDER_H
#define GC_API_MODELBUILDER_H

#include "runtime/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gc {

/// A value of the model that made it, and valid as long as that.
class Tensor {
public:
  /// Channels last; the first dimension is the batch. Empty where an error came before.
  std::vector<int64_t> shape() const;

private:
  friend class ModelBuilder;
  void *value = nullptr;
};

/// Of square windows.
struct Convolution {
  int64_t outputs, kernel;
  int64_t stride = 1, padding = 0;
};
struct Pool {
  int64_t kernel, stride;
  int64_t padding = 0;
};

class ModelBuilder {
public:
  /// A classifier of samples of this shape: [batch, height, width, channels] for images.
  ModelBuilder(const std::string &name, const std::vector<int64_t> &inputShape, int64_t classes);
  ~ModelBuilder();
  ModelBuilder(ModelBuilder &&) noexcept;

  Tensor input() const;

  Tensor conv(const std::string &name, Tensor x, const Convolution &shape);
  /// Of the last dimension.
  Tensor linear(const std::string &name, Tensor x, int64_t outputs);
  Tensor batchNorm(const std::string &name, Tensor x);
  Tensor groupNorm(const std::string &name, Tensor x, int64_t groups);
  Tensor layerNorm(const std::string &name, Tensor x, double epsilon = 1e-5);
  Tensor relu(const std::string &name, Tensor x);
  Tensor gelu(const std::string &name, Tensor x);
  Tensor add(const std::string &name, Tensor a, Tensor b);
  Tensor dropout(const std::string &name, Tensor x, double probability);
  Tensor maxPool(const std::string &name, Tensor x, const Pool &shape);
  /// [batch, ..., channels] to [batch, channels].
  Tensor globalAvgPool(const std::string &name, Tensor x);
  /// Queries, keys and values side by side, [batch, positions, 3 * width], to [., ., width].
  Tensor attention(const std::string &name, Tensor qkv, int64_t heads);
  Tensor reshape(const std::string &name, Tensor x, const std::vector<int64_t> &shape);
  /// To [batch, everything else].
  Tensor flatten(const std::string &name, Tensor x);

  /// Adds cross entropy and accuracy to logits [batch, classes]; the model as text, as gc-compile
  /// takes it. Fails (bad input) with the first error of any layer. The builder is spent.
  runtime::Result<std::string> finish(Tensor logits);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace gc

#endif // GC_API_MODELBUILDER_H
