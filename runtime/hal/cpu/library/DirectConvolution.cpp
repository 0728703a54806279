// Activations stay NHWC; filters do not stay OHWI: oneDNN 2.6 answers plain filters with its
// reference loops (a thousand times slower), so it chooses a blocked layout and we reorder from or
// to OHWI in the workspace (FilterLayout.h).
#include "runtime/hal/cpu/library/DirectConvolution.h"
#include "runtime/hal/cpu/library/FilterLayout.h"
#include "runtime/hal/cpu/library/Loops.h"

#include <stdexcept>

namespace gc::runtime::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;

constexpr auto kF32 = memory::data_type::f32;
constexpr auto kBf16 = memory::data_type::bf16;

class Direct final : public ConvolutionCall {
public:
  explicit Direct(const ConvolutionSpec &spec)
      : s_(spec), src_({s_.batch, s_.in_c, s_.in_h, s_.in_w}, typeOf(plan::Direction_BackwardData),
                       memory::format_tag::nhwc),
        dst_({s_.batch, s_.out_c, s_.out_h, s_.out_w}, typeOf(plan::Direction_Forward),
             memory::format_tag::nhwc),
        weights_(filterSizes(), typeOf(plan::Direction_BackwardWeights),
                 s_.groups == 1 ? memory::format_tag::ohwi : memory::format_tag::abdec),
        anyWeights_(filterSizes(), typeOf(plan::Direction_BackwardWeights),
                    memory::format_tag::any),
        bias_({s_.out_c}, kF32, memory::format_tag::x), strides_{s_.stride_h, s_.stride_w},
        dilation_{s_.dilation_h - 1, s_.dilation_w - 1}, before_{s_.pad_h, s_.pad_w},
        after_{paddingAfter(s_.in_h, s_.out_h, s_.kernel_h, s_.stride_h, s_.dilation_h, s_.pad_h),
               paddingAfter(s_.in_w, s_.out_w, s_.kernel_w, s_.stride_w, s_.dilation_w, s_.pad_w)} {
    switch (s_.direction) {
    case plan::Direction_Forward:
      buildForward();
      break;
    case plan::Direction_BackwardData:
      buildBackwardData();
      break;
    case plan::Direction_BackwardWeights:
      buildBackwardWeights();
      break;
    }
  }

  Status execute(const ConvolutionPointers &p) override {
    if (s_.direction == plan::Direction_BackwardWeights)
      return executeBackwardWeights(p);
    void *weights = p.weights;
    if (blocked_) {
      weights = at(p.workspace, blockedOffset_);
      if (s_.type == plan::DType_BF16)
        filters_.fromOhwi(static_cast<uint16_t *>(weights),
                          static_cast<const uint16_t *>(p.weights));
      else
        filters_.fromOhwi(static_cast<float *>(weights), static_cast<const float *>(p.weights));
    }
    bool forward = s_.direction == plan::Direction_Forward;
    void *result = forward ? p.dst : p.src;
    void *target = temporary_ ? at(p.workspace, temporaryOffset_) : result;
    main_.set(0, forward ? p.src : target);
    main_.set(1, weights);
    main_.set(2, forward ? target : p.dst);
    main_.set(3, at(p.workspace, scratchOffset_));
    if (biasPlace_)
      main_.set(biasPlace_, p.bias);
    if (residualPlace_)
      main_.set(residualPlace_, p.residual);
    if (Status done = main_.execute(); !done)
      return done;
    int64_t rows = s_.batch * s_.out_h * s_.out_w;
    if (separateEpilogue_)
      epilogue(static_cast<float *>(target), nullptr,
               s_.residual ? static_cast<const float *>(p.residual) : nullptr, s_.activation, rows,
               s_.out_c);
    if (temporary_)
      addOrCopy(static_cast<float *>(result), static_cast<const float *>(target),
                static_cast<int64_t>((forward ? dst_ : src_).get_size() / sizeof(float)), true);
    return {};
  }

  size_t workspaceBytes() const override { return layout_.size(); }
  std::string implementation() const override { return "direct " + main_.implementation(); }

private:
  ConvolutionSpec s_;
  memory::desc src_, dst_, weights_, anyWeights_, bias_;
  memory::dims strides_, dilation_, before_, after_; // dilation counts from 0
  Primitive main_;
  FilterLayout filters_;
  WorkspaceLayout layout_;
  size_t blockedOffset_ = 0, scratchOffset_ = 0;
  size_t temporaryOffset_ = 0, biasOffset_ = 0;
  size_t biasPlace_ = 0, residualPlace_ = 0; // 0: none (place 0 is src)
  bool blocked_ = false, temporary_ = false, separateEpilogue_ = false;

  /// The type of the operand that is the result of `direction`.
  memory::data_type typeOf(plan::Direction direction) const {
    plan::DType type = s_.direction == direction ? s_.result : s_.type;
    return type == plan::DType_BF16 ? kBf16 : kF32;
  }
  // Filters with groups have five dimensions: [group, out, in, kernel, kernel].
  memory::dims filterSizes() const {
    if (s_.groups == 1)
      return {s_.out_c, s_.in_c, s_.kernel_h, s_.kernel_w};
    return {s_.groups, s_.out_c / s_.groups, s_.in_c / s_.groups, s_.kernel_h, s_.kernel_w};
  }
  static int64_t paddingAfter(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                              int64_t dilation, int64_t before) {
    return (out - 1) * stride + (kernel - 1) * dilation + 1 - before - in;
  }

  dnnl::convolution_forward::primitive_desc forwardHint(const dnnl::primitive_attr &attr) {
    // Forward of the same factors; its own result is of their type.
    auto type = s_.type == plan::DType_BF16 ? kBf16 : kF32;
    memory::desc src = as(src_, type), dst = as(dst_, type), weights = as(anyWeights_, type);
    dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training,
                                         algorithm::convolution_direct, src, weights, dst, strides_,
                                         dilation_, before_, after_);
    return {desc, attr, engine()};
  }
  static memory::desc as(memory::desc desc, memory::data_type type) {
    desc.data.data_type = memory::convert_to_c(type);
    return desc;
  }

  void buildForward() {
    int residualOp = -1;
    auto make = [&](bool fused) {
      dnnl::primitive_attr attr = userScratchpad();
      dnnl::post_ops ops;
      residualOp = -1;
      if (fused) {
        if (s_.accumulate)
          ops.append_sum(1.0f);
        if (s_.residual) {
          residualOp = ops.len();
          ops.append_binary(algorithm::binary_add, dst_);
        }
        if (s_.activation == plan::Activation_Relu)
          ops.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
        if (s_.activation == plan::Activation_Gelu)
          ops.append_eltwise(1.0f, algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
      }
      attr.set_post_ops(ops);
      auto kind = dnnl::prop_kind::forward_training;
      auto how = algorithm::convolution_direct;
      dnnl::convolution_forward::desc desc =
          s_.bias ? dnnl::convolution_forward::desc(kind, how, src_, anyWeights_, bias_, dst_,
                                                    strides_, dilation_, before_, after_)
                  : dnnl::convolution_forward::desc(kind, how, src_, anyWeights_, dst_, strides_,
                                                    dilation_, before_, after_);
      return dnnl::convolution_forward::primitive_desc(desc, attr, engine());
    };
    // Accumulating after an activation is not a sum that oneDNN can fuse.
    bool fusible = !(s_.accumulate && s_.activation != plan::Activation_None);
    bool extras = s_.accumulate || s_.residual || s_.activation != plan::Activation_None;
    dnnl::convolution_forward::primitive_desc pd;
    if (fusible) {
      try {
        pd = make(true);
      } catch (const dnnl::error &) {
        fusible = false;
      }
    }
    if (!fusible || (extras && isReference(pd.impl_info_str()))) {
      if (s_.result != plan::DType_F32) // our own epilogue knows f32 alone
        throw std::runtime_error("no fused epilogue for bf16");
      pd = make(false);
      separateEpilogue_ = s_.residual || s_.activation != plan::Activation_None;
      temporary_ = s_.accumulate;
    }
    takeWeights(pd.weights_desc());
    finish(pd, dnnl::convolution_forward(pd));
    main_.argument(DNNL_ARG_SRC, src_);
    main_.argument(DNNL_ARG_WEIGHTS, pd.weights_desc());
    main_.argument(DNNL_ARG_DST, dst_);
    main_.argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
    if (s_.bias)
      biasPlace_ = main_.argument(DNNL_ARG_BIAS, bias_);
    if (residualOp >= 0)
      residualPlace_ =
          main_.argument(DNNL_ARG_ATTR_MULTIPLE_POST_OP(residualOp) | DNNL_ARG_SRC_1, dst_);
    if (temporary_)
      temporaryOffset_ = layout_.take(dst_.get_size());
  }

  void buildBackwardData() {
    dnnl::primitive_attr attr = userScratchpad();
    dnnl::convolution_backward_data::desc desc(algorithm::convolution_direct, src_, anyWeights_,
                                               dst_, strides_, dilation_, before_, after_);
    dnnl::convolution_backward_data::primitive_desc pd(desc, attr, engine(), forwardHint(attr));
    takeWeights(pd.weights_desc());
    finish(pd, dnnl::convolution_backward_data(pd));
    main_.argument(DNNL_ARG_DIFF_SRC, src_);
    main_.argument(DNNL_ARG_WEIGHTS, pd.weights_desc());
    main_.argument(DNNL_ARG_DIFF_DST, dst_);
    main_.argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
    temporary_ = s_.accumulate;
    if (temporary_)
      temporaryOffset_ = layout_.take(src_.get_size());
  }

  void buildBackwardWeights() {
    dnnl::primitive_attr attr = userScratchpad();
    auto how = algorithm::convolution_direct;
    dnnl::convolution_backward_weights::desc desc =
        s_.bias ? dnnl::convolution_backward_weights::desc(how, src_, anyWeights_, bias_, dst_,
                                                           strides_, dilation_, before_, after_)
                : dnnl::convolution_backward_weights::desc(how, src_, anyWeights_, dst_, strides_,
                                                           dilation_, before_, after_);
    dnnl::convolution_backward_weights::primitive_desc pd(desc, attr, engine(), forwardHint(attr));
    finish(pd, dnnl::convolution_backward_weights(pd));
    main_.argument(DNNL_ARG_SRC, src_);
    main_.argument(DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc());
    main_.argument(DNNL_ARG_DIFF_DST, dst_);
    main_.argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
    if (s_.bias) {
      biasPlace_ = main_.argument(DNNL_ARG_DIFF_BIAS, bias_);
      if (s_.accumulate)
        biasOffset_ = layout_.take(bias_.get_size());
    }
    if (pd.diff_weights_desc() != weights_ || s_.accumulate)
      block(pd.diff_weights_desc());
  }

  Status executeBackwardWeights(const ConvolutionPointers &p) {
    main_.set(0, p.src);
    main_.set(1, blocked_ ? at(p.workspace, blockedOffset_) : p.weights);
    main_.set(2, p.dst);
    main_.set(3, at(p.workspace, scratchOffset_));
    bool addBias = s_.bias && s_.accumulate;
    void *bias = addBias ? at(p.workspace, biasOffset_) : p.bias;
    if (biasPlace_)
      main_.set(biasPlace_, bias);
    if (Status done = main_.execute(); !done)
      return done;
    if (addBias)
      addOrCopy(static_cast<float *>(p.bias), static_cast<const float *>(bias), s_.out_c, true);
    if (blocked_)
      filters_.toOhwi(static_cast<float *>(p.weights),
                      reinterpret_cast<const float *>(at(p.workspace, blockedOffset_)),
                      s_.accumulate);
    return {};
  }

  void takeWeights(const memory::desc &desc) {
    if (desc != weights_)
      block(desc);
  }

  void block(const memory::desc &desc) {
    blocked_ = true;
    filters_ = FilterLayout(desc);
    blockedOffset_ = layout_.take(filters_.bytes());
  }

  template <typename Descriptor> void finish(const Descriptor &pd, dnnl::primitive primitive) {
    if (s_.type != plan::DType_F32 && isReference(pd.impl_info_str()))
      throw std::runtime_error("no fast kernel for bf16");
    main_ = Primitive(std::move(primitive), pd.impl_info_str());
    scratchOffset_ = layout_.take(pd.scratchpad_desc().get_size());
  }
};

} // namespace

std::unique_ptr<ConvolutionCall> buildDirectConvolution(const ConvolutionSpec &spec) {
  return std::make_unique<Direct>(spec);
}

} // namespace gc::runtime::cpu
