// Which way a convolution goes. The rules are fixed by shape, so that compiler and runtime agree;
// the figures behind them are in README.md.
#include "runtime/hal/cpu/library/DepthwiseFilterGradient.h"
#include "runtime/hal/cpu/library/DirectConvolution.h"
#include "runtime/hal/cpu/library/ProductConvolution.h"
#include "runtime/hal/cpu/library/Widening.h"

namespace gc::runtime::cpu {
namespace {

bool preferProduct(const ConvolutionSpec &s) {
  if (!isProduct(s))
    return false;
  if (s.kernel_h * s.kernel_w >= 16) // patch embeddings: long runs, few patches
    return true;
  if (s.kernel_h != 1 || s.kernel_w != 1)
    return false;
  // 1×1: oneDNN's direct kernels win forward and for data, unless the result is added to what is
  // there (a product does that for free); for filters a product wins once both sides are wide.
  if (s.direction == plan::Direction_BackwardData)
    return s.accumulate;
  return s.direction == plan::Direction_BackwardWeights && s.in_c * s.out_c >= 128 * 512;
}

/// Whether kernels that multiply bf16 are faster for this shape where they are at all.
bool hasNativeKernels(const ConvolutionSpec &s) {
  if (s.groups > 1 || s.kernel_h * s.kernel_w >= 16)
    return false;
  if (s.direction != plan::Direction_BackwardWeights)
    return true;
  // Filters' gradients: few channels leave pairs of bf16 empty, and small images are transposed for
  // every tap. Ours that add up need f32.
  if (s.result != plan::DType_F32 || s.in_c < 16)
    return false;
  bool oneTap = s.kernel_h == 1 && s.kernel_w == 1;
  return oneTap ? !(s.bias && preferProduct(s)) : s.out_h * s.out_w > 100;
}

} // namespace

Result<std::unique_ptr<ConvolutionCall>> ConvolutionCall::create(const ConvolutionSpec &spec) {
  for (int64_t size : {spec.batch, spec.in_h, spec.in_w, spec.in_c, spec.out_h, spec.out_w,
                       spec.out_c, spec.kernel_h, spec.kernel_w, spec.stride_h, spec.stride_w,
                       spec.dilation_h, spec.dilation_w})
    if (size < 1)
      return badInput("a convolution needs positive sizes");
  if (spec.groups < 1 || spec.in_c % spec.groups != 0 || spec.out_c % spec.groups != 0)
    return badInput(std::to_string(spec.groups) + " groups do not divide " +
                    std::to_string(spec.in_c) + " input and " + std::to_string(spec.out_c) +
                    " output channels");
  if (Status types = checkTypes(spec.type, spec.accumulator, spec.result, spec.accumulate); !types)
    return types.error();
  if (spec.direction != plan::Direction_Forward &&
      (spec.residual || spec.activation != plan::Activation_None))
    return badInput("activation and residual belong to the forward convolution");
  bool halves = hasHalves(spec);
  if (halves && !(spec.native && hasNativeKernels(spec)))
    return buildWideningConvolution(spec);
  if (preferProduct(spec))
    return buildProductConvolution(spec);
  if (isDepthwiseFilterGradient(spec))
    return buildDepthwiseFilterGradient(spec);
  std::unique_ptr<ConvolutionCall> call;
  Status built = guarded("convolution", [&] { call = buildDirectConvolution(spec); });
  if (!built && halves)
    return buildWideningConvolution(spec);
  if (!built)
    return built.error();
  return call;
}

} // namespace gc::runtime::cpu
