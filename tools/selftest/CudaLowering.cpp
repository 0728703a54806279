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
  command.workspace =
      plan.workspace(static_cast<uint64_t>(gc::cuda::workspaceBytes(command, model)));
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
  c.spec = std::make_unique<gc::plan::ConvolutionSpecT>(spec);
  c.src = o.src, c.weights = o.weights, c.dst = o.dst;
  c.bias = o.bias, c.residual = o.residual;
  return lower(plan, c, model);
}

Status CudaLowering::matmul(SmallPlan &plan, const cpu::MatMulSpec &spec, const MatMulOperands &o,
                            int) const {
  gc::plan::MatMulT p;
  p.spec = std::make_unique<gc::plan::MatMulSpecT>(spec);
  p.a = std::make_unique<gc::plan::View>(o.a);
  p.b = std::make_unique<gc::plan::View>(o.b);
  p.c = std::make_unique<gc::plan::View>(o.c);
  p.bias = o.bias, p.residual = o.residual;
  return lower(plan, p, model);
}
