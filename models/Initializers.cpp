//===- Initializers.cpp - PyTorch's initial distributions -----------------===//
#include "models/Initializers.h"
#include <cmath>

namespace gc::models {

InitAttr Initializer::attribute(mlir::MLIRContext *context) const {
  return InitAttr::get(context, kind, mlir::DenseF64ArrayAttr::get(context, values));
}

Initializer constant(double value) { return {InitKind::Constant, {value}}; }

Initializer uniform(double bound) { return {InitKind::Uniform, {-bound, bound}}; }

Initializer normal(double deviation) { return {InitKind::Normal, {0.0, deviation}}; }

Initializer truncatedNormal(double deviation) {
  return {InitKind::TruncatedNormal, {0.0, deviation, -2.0, 2.0}};
}

Initializer kaimingNormal(int64_t fanOut) { return normal(std::sqrt(2.0 / fanOut)); }

Initializer xavierUniform(int64_t fanIn, int64_t fanOut) {
  return uniform(std::sqrt(6.0 / (fanIn + fanOut)));
}

LayerInit layerDefault(int64_t fanIn) {
  Initializer both = uniform(1.0 / std::sqrt(static_cast<double>(fanIn)));
  return {both, both};
}

} // namespace gc::models
