#include "runtime/hal/cpu/library/Widening.h"
#include "runtime/hal/cpu/library/Halves.h"
#include "runtime/hal/cpu/library/Primitive.h"

namespace gc::runtime::cpu {
namespace {

/// A tensor of bf16 as f32 in the workspace, or one of f32 where it lies.
class Widened {
public:
  Widened() = default;
  Widened(WorkspaceLayout &layout, plan::DType type, uint64_t elements)
      : elements_(static_cast<int64_t>(elements)), isHalf_(type == plan::DType_BF16) {
    if (isHalf_)
      offset_ = layout.take(elements * sizeof(float));
  }

  /// Where its f32 are, with its values.
  float *read(const void *given, void *workspace) const {
    if (isHalf_)
      widen(reinterpret_cast<float *>(at(workspace, offset_)), given, elements_);
    return place(const_cast<void *>(given), workspace);
  }
  /// Where its f32 belong; `finish` rounds them into `given`.
  float *place(void *given, void *workspace) const {
    return isHalf_ ? reinterpret_cast<float *>(at(workspace, offset_))
                   : static_cast<float *>(given);
  }
  void finish(void *given, void *workspace) const {
    if (isHalf_)
      narrow(given, place(given, workspace), elements_);
  }

private:
  int64_t elements_ = 0;
  size_t offset_ = 0;
  bool isHalf_ = false;
};

template <typename Spec> Spec inF32(Spec spec) {
  spec.type = spec.result = plan::DType_F32;
  return spec;
}

class WideningConvolution final : public ConvolutionCall {
public:
  WideningConvolution(const ConvolutionSpec &s, std::unique_ptr<ConvolutionCall> call)
      : s_(s), call_(std::move(call)) {
    auto typeOf = [&](plan::Direction result) { return s.direction == result ? s.result : s.type; };
    auto elements = [](auto... sizes) {
      return (uint64_t{1} * ... * static_cast<uint64_t>(sizes));
    };
    uint64_t pixels = elements(s.batch, s.out_h, s.out_w, s.out_c);
    src_ = {layout_, typeOf(plan::Direction_BackwardData),
            elements(s.batch, s.in_h, s.in_w, s.in_c)};
    weights_ = {layout_, typeOf(plan::Direction_BackwardWeights),
                elements(s.out_c, s.kernel_h, s.kernel_w, s.in_c / s.groups)};
    dst_ = {layout_, typeOf(plan::Direction_Forward), pixels};
    if (s.residual)
      residual_ = {layout_, s.result, pixels};
    callOffset_ = layout_.take(call_->workspaceBytes());
  }

  void warmUp() override { call_->warmUp(); }

  Status execute(const ConvolutionPointers &p) override {
    ConvolutionPointers wide = p;
    wide.workspace = at(p.workspace, callOffset_);
    auto bring = [&](const Widened &tensor, void *given, plan::Direction result) {
      return s_.direction == result ? tensor.place(given, p.workspace)
                                    : tensor.read(given, p.workspace);
    };
    wide.src = bring(src_, p.src, plan::Direction_BackwardData);
    wide.weights = bring(weights_, p.weights, plan::Direction_BackwardWeights);
    wide.dst = bring(dst_, p.dst, plan::Direction_Forward);
    if (s_.residual)
      wide.residual = residual_.read(p.residual, p.workspace);
    if (Status done = call_->execute(wide); !done)
      return done;
    switch (s_.direction) {
    case plan::Direction_Forward:
      dst_.finish(p.dst, p.workspace);
      break;
    case plan::Direction_BackwardData:
      src_.finish(p.src, p.workspace);
      break;
    case plan::Direction_BackwardWeights:
      weights_.finish(p.weights, p.workspace);
      break;
    }
    return {};
  }

  size_t workspaceBytes() const override { return layout_.size(); }
  std::string implementation() const override { return "widened " + call_->implementation(); }

private:
  ConvolutionSpec s_;
  std::unique_ptr<ConvolutionCall> call_;
  WorkspaceLayout layout_;
  Widened src_, weights_, dst_, residual_;
  size_t callOffset_ = 0;
};

/// Elements from the first to the last that the strides reach.
uint64_t extentOf(const MatMulSpec &s, const std::vector<int64_t> &strides, int64_t rows,
                  int64_t columns) {
  int64_t last = 0;
  for (size_t i = 0; i < strides.size(); ++i)
    last += strides[i] * ((i < s.batch.size()    ? s.batch[i]
                           : i == s.batch.size() ? rows
                                                 : columns) -
                          1);
  return static_cast<uint64_t>(last) + 1;
}

class WideningMatMul final : public MatMulCall {
public:
  WideningMatMul(const MatMulSpec &s, std::unique_ptr<MatMulCall> call) : call_(std::move(call)) {
    uint64_t result = extentOf(s, s.c_strides, s.m, s.n);
    a_ = {layout_, s.type, extentOf(s, s.a_strides, s.m, s.k)};
    b_ = {layout_, s.type, extentOf(s, s.b_strides, s.k, s.n)};
    c_ = {layout_, s.result, result};
    if (s.residual)
      residual_ = {layout_, s.result, result};
    callOffset_ = layout_.take(call_->workspaceBytes());
  }

  void warmUp() override { call_->warmUp(); }

  Status execute(const MatMulPointers &p) override {
    MatMulPointers wide = p;
    wide.workspace = at(p.workspace, callOffset_);
    wide.a = a_.read(p.a, p.workspace);
    wide.b = b_.read(p.b, p.workspace);
    wide.c = c_.place(p.c, p.workspace);
    if (p.residual)
      wide.residual = residual_.read(p.residual, p.workspace);
    if (Status done = call_->execute(wide); !done)
      return done;
    c_.finish(p.c, p.workspace);
    return {};
  }

  size_t workspaceBytes() const override { return layout_.size(); }
  std::string implementation() const override { return "widened " + call_->implementation(); }

private:
  std::unique_ptr<MatMulCall> call_;
  WorkspaceLayout layout_;
  Widened a_, b_, c_, residual_;
  size_t callOffset_ = 0;
};

} // namespace

Result<std::unique_ptr<ConvolutionCall>> buildWideningConvolution(const ConvolutionSpec &spec) {
  auto call = ConvolutionCall::create(inF32(spec));
  if (!call)
    return call.error();
  return std::unique_ptr<ConvolutionCall>(
      std::make_unique<WideningConvolution>(spec, std::move(*call)));
}

Result<std::unique_ptr<MatMulCall>> buildWideningMatMul(const MatMulSpec &spec) {
  auto call = MatMulCall::create(inF32(spec));
  if (!call)
    return call.error();
  uint64_t elements = static_cast<uint64_t>(spec.m) * static_cast<uint64_t>(spec.n);
  for (int64_t size : spec.batch)
    elements *= static_cast<uint64_t>(size);
  if (spec.result == plan::DType_BF16 && elements != extentOf(spec, spec.c_strides, spec.m, spec.n))
    return badInput("a matrix product writes bf16 without gaps alone");
  return std::unique_ptr<MatMulCall>(std::make_unique<WideningMatMul>(spec, std::move(*call)));
}

} // namespace gc::runtime::cpu
