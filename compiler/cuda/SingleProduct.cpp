//===- SingleProduct.cpp - A product outside of any model -----------------===//
#include "compiler/cuda/SingleProduct.h"
#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/StoreKernels.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/cuda/grids/ProductKernel.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// A buffer of f32: whyNoKernel refuses products of other types.
BufferUse floats(GpuKernels &kernels, uint32_t buffer, int64_t elements) {
  return kernels.plain(int(buffer), {elements}, Float32Type::get(kernels.getContext()));
}

std::optional<BufferUse> maybe(GpuKernels &kernels, int32_t buffer, int64_t elements) {
  if (buffer < 0)
    return std::nullopt;
  return floats(kernels, uint32_t(buffer), elements);
}

void add(GpuKernels &kernels, const plan::MatMulT &p) {
  const plan::MatMulSpecT &spec = *p.spec;
  size_t dims = spec.batch.size();
  auto last = [&](const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
    int64_t index = (rows - 1) * strides[dims] + (columns - 1) * strides[dims + 1];
    for (size_t i = 0; i < dims; ++i)
      index += (spec.batch[i] - 1) * strides[i];
    return index;
  };
  auto use = [&](const plan::View &view, int64_t lastIndex) {
    return floats(kernels, view.buffer(), int64_t(view.offset()) + lastIndex + 1);
  };
  int64_t lastOfC = last(spec.c_strides, spec.m, spec.n);
  ProductKernel product =
      matrixProduct(spec, {int64_t(p.a->offset()), int64_t(p.b->offset()), int64_t(p.c->offset())});
  product.a = use(*p.a, last(spec.a_strides, spec.m, spec.k));
  product.b = use(*p.b, last(spec.b_strides, spec.k, spec.n));
  product.c = use(*p.c, lastOfC);
  product.bias = maybe(kernels, p.bias, spec.n);
  product.residual = maybe(kernels, p.residual, lastOfC + 1);
  addProduct(kernels, product);
}

void add(GpuKernels &kernels, const plan::ConvolutionT &c) {
  const plan::ConvolutionSpecT &s = *c.spec;
  int64_t outputs = s.batch * s.out_h * s.out_w * s.out_c;
  addConvolution(kernels, s,
                 {floats(kernels, c.src, s.batch * s.in_h * s.in_w * s.in_c),
                  floats(kernels, c.weights, s.out_c * s.kernel_h * s.kernel_w * s.in_c),
                  floats(kernels, c.dst, outputs), maybe(kernels, c.bias, s.out_c),
                  maybe(kernels, c.residual, outputs)});
}

int64_t measure(const auto &command, const DeviceModel &device) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  KernelModule none(gridDeviceOf(device));
  GpuKernels kernels(&context, "product", none);
  add(kernels, command);
  return kernels.workspaceBytes;
}

CompiledProduct compile(const auto &command, const DeviceModel &device) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  CompiledProduct result;
  result.error = whyNoKernel(*command.spec);
  if (!result.error.empty())
    return result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    result.error += (result.error.empty() ? "" : "\n") + diagnostic.str();
    return success();
  });
  KernelModule built(gridDeviceOf(device));
  OwningOpRef<ModuleOp> module = makeKernelModule(&context, built);
  GpuKernels kernels(&context, "product", built);
  add(kernels, command);
  if (!kernels.whyImpossible.empty()) {
    result.error = "the product " + kernels.whyImpossible;
    return result;
  }
  CodegenOptions options;
  options.device = &device;
  options.threads = 1;
  options.assemble = false; // the driver compiles the text, as it does on a GPU newer than we are
  FailureOr<KernelImages> compiled = compileKernels(*module, options);
  if (failed(compiled))
    return result;
  SmallVector<plan::LaunchT *> launches;
  result.launches.reserve(kernels.launches.size());
  for (const KernelLaunch &launch : kernels.launches) {
    std::vector<uint32_t> buffers;
    for (int buffer : launch.buffers)
      buffers.push_back(uint32_t(buffer == kernels::workspace ? command.workspace : buffer));
    launches.push_back(&result.launches.emplace_back(launchCommand(launch, std::move(buffers))));
  }
  result.kernels = storeKernels(*compiled, launches);
  return result;
}

} // namespace

int64_t workspaceBytes(const plan::MatMulT &product, const DeviceModel &device) {
  return measure(product, device);
}
int64_t workspaceBytes(const plan::ConvolutionT &convolution, const DeviceModel &device) {
  return measure(convolution, device);
}

CompiledProduct compileProduct(const plan::MatMulT &product, const DeviceModel &device) {
  return compile(product, device);
}
CompiledProduct compileProduct(const plan::ConvolutionT &convolution, const DeviceModel &device) {
  return compile(convolution, device);
}

} // namespace gc::cuda
