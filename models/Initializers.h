//===- Initializers.h - PyTorch's initial distributions ---------*- C++ -*-===//
//
// Named after the functions of torch.nn.init. Fan-in is the number of inputs that one output sums
// over (for a convolution: input channels x kernel area), fan-out the same from the other side.
//
//===----------------------------------------------------------------------===//
#ifndef GC_MODELS_INITIALIZERS_H
#define GC_MODELS_INITIALIZERS_H

#include "dialects/Gc.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace gc::models {

struct Initializer {
  InitKind kind;
  llvm::SmallVector<double, 4> values;

  InitAttr attribute(mlir::MLIRContext *context) const;
};

/// How the weight and, where there is one, the bias of a layer start.
struct LayerInit {
  Initializer weight;
  std::optional<Initializer> bias;
};

Initializer constant(double value);
Initializer uniform(double bound); // [-bound, bound)
Initializer normal(double deviation);
/// torch.nn.init.trunc_normal_ with its default bounds -2 and 2: not multiples of the deviation.
Initializer truncatedNormal(double deviation);
/// kaiming_normal_(mode="fan_out", nonlinearity="relu")
Initializer kaimingNormal(int64_t fanOut);
Initializer xavierUniform(int64_t fanIn, int64_t fanOut);
/// What Linear and Conv2d do when nobody asks: kaiming_uniform_(a=sqrt 5) for the weight, which is
/// uniform in 1 / sqrt(fan-in), and the same for the bias.
LayerInit layerDefault(int64_t fanIn);

} // namespace gc::models

#endif
