// Which way a convolution goes. The rules are fixed by shape, so that compiler and runtime agree;
// the figures behind them are in README.md.
#include "runtime/hal/cpu/library/DirectConvolution.h"
#include "runtime/hal/cpu/library/ProductConvolution.h"

namespace gc::runtime::cpu {
namespace {

bool preferProduct(const ConvolutionSpec &s) {
  if (!isProduct(s))
    return false;
  if (s.kernelH * s.kernelW >= 16) // patch embeddings: long runs, few patches
    return true;
  if (s.kernelH != 1 || s.kernelW != 1)
    return false;
  // 1×1: oneDNN's direct kernels win forward and for data, unless the result is added to what is
  // there (a product does that for free); for filters a product wins once both sides are wide.
  if (s.direction == Direction::BackwardData)
    return s.accumulate;
  return s.direction == Direction::BackwardWeights && s.inC * s.outC >= 128 * 512;
}

} // namespace

Result<std::unique_ptr<ConvolutionCall>> ConvolutionCall::create(const ConvolutionSpec &spec) {
  for (int64_t size : {spec.batch, spec.inH, spec.inW, spec.inC, spec.outH, spec.outW, spec.outC,
                       spec.kernelH, spec.kernelW, spec.strideH, spec.strideW})
    if (size < 1)
      return badInput("a convolution needs positive sizes");
  if (spec.direction != Direction::Forward &&
      (spec.residual || spec.activation != Activation::None))
    return badInput("activation and residual belong to the forward convolution");
  if (preferProduct(spec))
    return buildProductConvolution(spec);
  std::unique_ptr<ConvolutionCall> call;
  if (Status built = guarded("convolution", [&] { call = buildDirectConvolution(spec); }); !built)
    return built.error();
  return call;
}

} // namespace gc::runtime::cpu
