#include "runtime/hal/cpu/library/ProductConvolution.h"
#include "runtime/hal/cpu/library/Loops.h"
#include "runtime/hal/cpu/library/Primitive.h"

#include <omp.h>

namespace gc::runtime::cpu {
namespace {

class ProductConvolution final : public ConvolutionCall {
public:
  explicit ProductConvolution(const ConvolutionSpec &spec)
      : s_(spec), rows_(s_.batch * s_.out_h * s_.out_w),
        depth_(s_.kernel_h * s_.kernel_w * s_.in_c), gather_(s_.kernel_h != 1 || s_.kernel_w != 1),
        threads_(omp_get_max_threads()) {}

  Status build() {
    MatMulSpec product;
    product.type = s_.type, product.result = s_.result, product.native = s_.native;
    switch (s_.direction) {
    case plan::Direction_Forward: // [rows × depth] · [out_c × depth]ᵀ
      product.m = rows_, product.n = s_.out_c, product.k = depth_;
      product.a_strides = {depth_, 1}, product.b_strides = {1, depth_},
      product.c_strides = {s_.out_c, 1};
      product.bias = s_.bias, product.residual = s_.residual, product.activation = s_.activation;
      product.accumulate = s_.accumulate;
      break;
    case plan::Direction_BackwardData: // [rows × out_c] · [out_c × depth]
      product.m = rows_, product.n = depth_, product.k = s_.out_c;
      product.a_strides = {s_.out_c, 1}, product.b_strides = {depth_, 1},
      product.c_strides = {depth_, 1};
      product.accumulate = s_.accumulate && !gather_;
      break;
    case plan::Direction_BackwardWeights: // [rows × out_c]ᵀ · [rows × depth]
      product.m = s_.out_c, product.n = depth_, product.k = rows_;
      product.a_strides = {1, s_.out_c}, product.b_strides = {depth_, 1},
      product.c_strides = {depth_, 1};
      product.accumulate = s_.accumulate;
      break;
    }
    auto call = MatMulCall::create(product);
    if (!call)
      return call.error();
    product_ = std::move(*call);
    if (gather_)
      patchesOffset_ = layout_.take(static_cast<size_t>(rows_ * depth_) * sizeof(float));
    if (s_.direction == plan::Direction_BackwardWeights && s_.bias)
      sumsOffset_ = layout_.take(static_cast<size_t>(threads_ * s_.out_c) * sizeof(float));
    productOffset_ = layout_.take(product_->workspaceBytes());
    return {};
  }

  void warmUp() override { product_->warmUp(); }

  Status execute(const ConvolutionPointers &p) override {
    auto *patches = reinterpret_cast<float *>(at(p.workspace, patchesOffset_));
    auto *pixels = gather_ ? patches : static_cast<float *>(p.src);
    if (gather_ && s_.direction != plan::Direction_BackwardData)
      gatherPatches(patches, static_cast<const float *>(p.src), s_);
    MatMulPointers m;
    m.workspace = at(p.workspace, productOffset_);
    switch (s_.direction) {
    case plan::Direction_Forward:
      m.a = pixels, m.b = p.weights, m.c = p.dst, m.bias = p.bias, m.residual = p.residual;
      return product_->execute(m);
    case plan::Direction_BackwardData: {
      m.a = p.dst, m.b = p.weights, m.c = pixels;
      Status done = product_->execute(m);
      if (done && gather_)
        scatterPatches(static_cast<float *>(p.src), patches, s_, s_.accumulate);
      return done;
    }
    case plan::Direction_BackwardWeights:
      m.a = p.dst, m.b = pixels, m.c = p.weights;
      if (s_.bias)
        columnSums(static_cast<float *>(p.bias), static_cast<const float *>(p.dst), rows_, s_.out_c,
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
  return s.groups == 1 && s.dilation_h == 1 && s.dilation_w == 1 && s.kernel_h == s.stride_h &&
         s.kernel_w == s.stride_w && s.pad_h == 0 && s.pad_w == 0 &&
         s.out_h * s.stride_h <= s.in_h && s.out_w * s.stride_w <= s.in_w &&
         (s.kernel_h != 1 || s.kernel_w != 1 || (s.out_h == s.in_h && s.out_w == s.in_w));
}

Result<std::unique_ptr<ConvolutionCall>> buildProductConvolution(const ConvolutionSpec &spec) {
  auto call = std::make_unique<ProductConvolution>(spec);
  if (Status built = call->build(); !built)
    return built.error();
  return std::unique_ptr<ConvolutionCall>(std::move(call));
}

} // namespace gc::runtime::cpu
