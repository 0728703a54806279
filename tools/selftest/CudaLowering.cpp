#include "tools/selftest/CudaLowering.h"

#include "compiler/cuda/SingleProduct.h"

using namespace gc::runtime;
using namespace gc::runtime::conformance;

void CudaLowering::target(SmallPlan &plan) const {
  PtxLowering::target(plan);
  plan.architecture = model.target;
}

/// Takes the place of the command in the plan.
static Status lower(SmallPlan &plan, auto &command, const gc::cuda::DeviceModel &model) {
  command.workspace = plan.workspace(static_cast<uint64_t>(gc::cuda::workspaceBytes(command)));
  gc::cuda::CompiledProduct product = gc::cuda::compileProduct(command, model);
  if (!product.error.empty())
    return runFailed(product.error);
  const auto &symbols = product.kernels.symbols;
  const auto &images = product.kernels.images;
  for (size_t i = 0; i < images.size(); ++i) {
    size_t end = i + 1 < images.size() ? images[i + 1]->first_symbol : symbols.size();
    plan.image(images[i]->ptx, {symbols.begin() + images[i]->first_symbol, symbols.begin() + end});
  }
  for (const gc::plan::LaunchT &launch : product.launches)
    plan.launch(launch.kernel, launch.buffers, *launch.grid, *launch.block, launch.shared_bytes);
  return {};
}

Status CudaLowering::convolution(SmallPlan &plan, const cpu::ConvolutionSpec &spec,
                                 const ConvolutionOperands &o, int) const {
  gc::plan::ConvolutionT c;
  c.direction = static_cast<gc::plan::Direction>(spec.direction);
  c.batch = spec.batch, c.in_h = spec.inH, c.in_w = spec.inW, c.in_c = spec.inC;
  c.out_h = spec.outH, c.out_w = spec.outW, c.out_c = spec.outC;
  c.kernel_h = spec.kernelH, c.kernel_w = spec.kernelW;
  c.stride_h = spec.strideH, c.stride_w = spec.strideW, c.pad_h = spec.padH, c.pad_w = spec.padW;
  c.activation = static_cast<gc::plan::Activation>(spec.activation);
  c.accumulate = spec.accumulate;
  c.src = o.src, c.weights = o.weights, c.dst = o.dst;
  c.bias = o.bias, c.residual = o.residual;
  return lower(plan, c, model);
}

Status CudaLowering::matmul(SmallPlan &plan, const cpu::MatMulSpec &spec, const MatMulOperands &o,
                            int) const {
  gc::plan::MatMulT p;
  p.batch = spec.batch, p.m = spec.m, p.n = spec.n, p.k = spec.k;
  p.a_strides = spec.aStrides, p.b_strides = spec.bStrides, p.c_strides = spec.cStrides;
  p.a = std::make_unique<gc::plan::View>(o.a);
  p.b = std::make_unique<gc::plan::View>(o.b);
  p.c = std::make_unique<gc::plan::View>(o.c);
  p.scale = spec.scale;
  p.bias = o.bias, p.residual = o.residual;
  p.activation = static_cast<gc::plan::Activation>(spec.activation);
  p.accumulate = spec.accumulate;
  return lower(plan, p, model);
}
