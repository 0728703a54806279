#include "runtime/hal/cpu/library/ProductConvolution.h"
#include "runtime/hal/cpu/library/Loops.h"
#include "runtime/hal/cpu/library/Primitive.h"

#include <omp.h>

namespace gc::runtime::cpu {
namespace {

class ProductConvolution final : public ConvolutionCall {
public:
  explicit ProductConvolution(const ConvolutionSpec &spec)
      : s_(spec), rows_(s_.batch * s_.outH * s_.outW), depth_(s_.kernelH * s_.kernelW * s_.inC),
        gather_(s_.kernelH != 1 || s_.kernelW != 1), threads_(omp_get_max_threads()) {}

  Status build() {
    MatMulSpec product;
    switch (s_.direction) {
    case Direction::Forward: // [rows × depth] · [outC × depth]ᵀ
      product.m = rows_, product.n = s_.outC, product.k = depth_;
      product.aStrides = {depth_, 1}, product.bStrides = {1, depth_},
      product.cStrides = {s_.outC, 1};
      product.bias = s_.bias, product.residual = s_.residual, product.activation = s_.activation;
      product.accumulate = s_.accumulate;
      break;
    case Direction::BackwardData: // [rows × outC] · [outC × depth]
      product.m = rows_, product.n = depth_, product.k = s_.outC;
      product.aStrides = {s_.outC, 1}, product.bStrides = {depth_, 1},
      product.cStrides = {depth_, 1};
      product.accumulate = s_.accumulate && !gather_;
      break;
    case Direction::BackwardWeights: // [rows × outC]ᵀ · [rows × depth]
      product.m = s_.outC, product.n = depth_, product.k = rows_;
      product.aStrides = {1, s_.outC}, product.bStrides = {depth_, 1},
      product.cStrides = {depth_, 1};
      product.accumulate = s_.accumulate;
      break;
    }
    auto call = MatMulCall::create(product);
    if (!call)
      return call.error();
    product_ = std::move(*call);
    if (gather_)
      patchesOffset_ = layout_.take(static_cast<size_t>(rows_ * depth_) * sizeof(float));
    if (s_.direction == Direction::BackwardWeights && s_.bias)
      sumsOffset_ = layout_.take(static_cast<size_t>(threads_ * s_.outC) * sizeof(float));
    productOffset_ = layout_.take(product_->workspaceBytes());
    return {};
  }

  void warmUp() override { product_->warmUp(); }

  Status execute(const ConvolutionPointers &p) override {
    auto *patches = reinterpret_cast<float *>(at(p.workspace, patchesOffset_));
    auto *pixels = gather_ ? patches : static_cast<float *>(p.src);
    if (gather_ && s_.direction != Direction::BackwardData)
      gatherPatches(patches, static_cast<const float *>(p.src), s_);
    MatMulPointers m;
    m.workspace = at(p.workspace, productOffset_);
    switch (s_.direction) {
    case Direction::Forward:
      m.a = pixels, m.b = p.weights, m.c = p.dst, m.bias = p.bias, m.residual = p.residual;
      return product_->execute(m);
    case Direction::BackwardData: {
      m.a = p.dst, m.b = p.weights, m.c = pixels;
      Status done = product_->execute(m);
      if (done && gather_)
        scatterPatches(static_cast<float *>(p.src), patches, s_, s_.accumulate);
      return done;
    }
    case Direction::BackwardWeights:
      m.a = p.dst, m.b = pixels, m.c = p.weights;
      if (s_.bias)
        columnSums(static_cast<float *>(p.bias), static_cast<const float *>(p.dst), rows_, s_.outC,
                   reinterpret_cast<float *>(at(p.workspace, sumsOffset_)), threads_,
                   s_.accumulate);
      return product_->execute(m);
    }
    return runFailed("unknown direction of a convolution");
  }

  size_t workspaceBytes() const override { return layout_.size(); }
  std::string implementation() const override {
    return (gather_ ? "patches " : "pixels ") + product_->implementation();
  }

private:
  ConvolutionSpec s_;
  int64_t rows_, depth_;
  bool gather_;
  int threads_;
  std::unique_ptr<MatMulCall> product_;
  WorkspaceLayout layout_;
  size_t patchesOffset_ = 0, sumsOffset_ = 0, productOffset_ = 0;
};

} // namespace

bool isProduct(const ConvolutionSpec &s) {
  return s.kernelH == s.strideH && s.kernelW == s.strideW && s.padH == 0 && s.padW == 0 &&
         s.outH * s.strideH <= s.inH && s.outW * s.strideW <= s.inW &&
         (s.kernelH != 1 || s.kernelW != 1 || (s.outH == s.inH && s.outW == s.inW));
}

Result<std::unique_ptr<ConvolutionCall>> buildProductConvolution(const ConvolutionSpec &spec) {
  auto call = std::make_unique<ProductConvolution>(spec);
  if (Status built = call->build(); !built)
    return built.error();
  return std::unique_ptr<ConvolutionCall>(std::move(call));
}

} // namespace gc::runtime::cpu
