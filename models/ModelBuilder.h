//===- ModelBuilder.h - layers that declare their parameters ----*- C++ -*-===//
//
// A network is written as in PyTorch: each layer has PyTorch's name, declares its parameters under
// it (`<name>.weight`, `<name>.bias`) with an initializer and the layout of the weight file, and
// becomes one op with that name as its location.
//
//   ModelBuilder model(context, "tiny", /*classes=*/10, {8, 28, 28, 1});
//   Value x = model.conv("conv", model.input(), {.outputs = 4, .kernel = 3, .padding = 1});
//   x = model.globalAvgPool("pool", model.relu("relu", x));
//   return model.finish(model.linear("fc", x, 10));
//
// Shapes must fit: builders check their options before they start.
//
//===----------------------------------------------------------------------===//
#ifndef GC_MODELS_MODELBUILDER_H
#define GC_MODELS_MODELBUILDER_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "models/Initializers.h"
#include "models/Networks.h"
#include <optional>
#include <string>

namespace gc::models {

struct ConvShape {
  int64_t outputs;
  int64_t kernel;
  int64_t stride = 1;
  int64_t padding = 0;
};

struct PoolShape {
  int64_t kernel;
  int64_t stride;
  int64_t padding = 0;
};

/// How a parameter lies in the weight file, where that differs from the inside: the file's tensor
/// of `shape`, its axes split into `split` and permuted (axis i of the result is split axis
/// `permutation[i]`), is the parameter, whose last axis holds all remaining ones merged.
struct FileLayout {
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 4> split;
  llvm::SmallVector<int64_t, 4> permutation;
};

class ModelBuilder {
public:
  /// Starts module `name` with `@model(image, label)`; the first dimension of `imageShape` is the
  /// batch.
  ModelBuilder(mlir::MLIRContext &context, llvm::StringRef name, int64_t classes,
               llvm::ArrayRef<int64_t> imageShape);

  mlir::Value input() const { return image; }

  /// Declares a parameter and reads it.
  mlir::Value parameter(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                        const Initializer &init, const FileLayout *layout = nullptr);

  /// Without `init`: PyTorch's default, with bias.
  mlir::Value conv(llvm::StringRef name, mlir::Value x, ConvShape shape,
                   std::optional<LayerInit> init = std::nullopt);
  /// Square patches of `patch` pixels, side by side, to tokens of `width`.
  mlir::Value patchEmbed(llvm::StringRef name, mlir::Value x, int64_t patch, int64_t width);
  /// Without `init`: PyTorch's default, with bias. `layout` is for the weight.
  mlir::Value linear(llvm::StringRef name, mlir::Value x, int64_t outputs,
                     std::optional<LayerInit> init = std::nullopt,
                     const FileLayout *layout = nullptr);

  /// Also declares and moves the running statistics (momentum 0.1), as torch.nn.BatchNorm2d.
  mlir::Value batchNorm(llvm::StringRef name, mlir::Value x);
  mlir::Value groupNorm(llvm::StringRef name, mlir::Value x, int64_t groups);
  mlir::Value layerNorm(llvm::StringRef name, mlir::Value x, double epsilon);

  mlir::Value relu(llvm::StringRef name, mlir::Value x);
  mlir::Value gelu(llvm::StringRef name, mlir::Value x);
  mlir::Value add(llvm::StringRef name, mlir::Value a, mlir::Value b);
  /// Nothing where `probability` is 0. The first one declares `@generator`.
  mlir::Value dropout(llvm::StringRef name, mlir::Value x, double probability);

  mlir::Value maxPool(llvm::StringRef name, mlir::Value x, PoolShape shape);
  mlir::Value globalAvgPool(llvm::StringRef name, mlir::Value x);
  /// torch.nn.AdaptiveAvgPool2d: a `side` x `side` image from a square one of any size.
  mlir::Value adaptiveAvgPool(llvm::StringRef name, mlir::Value x, int64_t side);

  mlir::Value attention(llvm::StringRef name, mlir::Value qkv, int64_t heads);
  mlir::Value reshape(llvm::StringRef name, mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// [N, H, W, C] to [N, H * W * C]: in that order, which is not PyTorch's (see FileLayout).
  mlir::Value flatten(llvm::StringRef name, mlir::Value x);
  mlir::Value slice(llvm::StringRef name, mlir::Value x, int64_t axis, int64_t offset,
                    int64_t size);

  /// Any op of the dialect, with its result types inferred.
  template <typename Op, typename... Args> Op create(llvm::StringRef name, Args &&...args) {
    return Op::create(builder, location(name), std::forward<Args>(args)...);
  }

  /// Adds loss and accuracy, and verifies. The builder is spent.
  Network finish(mlir::Value logits);

private:
  mlir::Location location(llvm::StringRef name);
  mlir::FloatAttr number(double value) { return builder.getF32FloatAttr(value); }
  void state(const std::string &name, StateRole role, mlir::RankedTensorType type,
             const Initializer &init);
  mlir::Value read(llvm::StringRef name, mlir::Type type);
  mlir::Value averageAxis(llvm::StringRef name, mlir::Value x, int64_t axis, int64_t size);
  std::pair<mlir::Value, mlir::Value> affine(llvm::StringRef name, mlir::Value x);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;   // inside @model
  mlir::OpBuilder variables; // before @model
  mlir::func::FuncOp function;
  mlir::Value image, label;
  int64_t dropouts = 0;
};

/// Dimension `axis` of a tensor.
int64_t dimension(mlir::Value tensor, unsigned axis);
/// The last dimension of a tensor.
int64_t channels(mlir::Value tensor);

} // namespace gc::models

#endif
