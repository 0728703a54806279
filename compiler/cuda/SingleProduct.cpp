//===- SingleProduct.cpp - A product outside of any model -----------------===//
#include "compiler/cuda/SingleProduct.h"
#include "compiler/cuda/StoreKernels.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/cuda/grids/ProductKernel.h"

using namespace mlir;

namespace gc::cuda {
namespace {

std::optional<BufferUse> maybe(GpuKernels &kernels, int32_t buffer, int64_t elements) {
  if (buffer < 0)
    return std::nullopt;
  return kernels.plain(buffer, {elements});
}

void add(GpuKernels &kernels, const plan::MatMulT &p) {
  size_t dims = p.batch.size();
  auto last = [&](const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
    int64_t index = (rows - 1) * strides[dims] + (columns - 1) * strides[dims + 1];
    for (size_t i = 0; i < dims; ++i)
      index += (p.batch[i] - 1) * strides[i];
    return index;
  };
  auto use = [&](const plan::View &view, int64_t lastIndex) {
    return kernels.plain(int(view.buffer()), {int64_t(view.offset()) + lastIndex + 1});
  };
  int64_t lastOfC = last(p.c_strides, p.m, p.n);
  ProductKernel product = matrixProduct(p);
  product.a = use(*p.a, last(p.a_strides, p.m, p.k));
  product.b = use(*p.b, last(p.b_strides, p.k, p.n));
  product.c = use(*p.c, lastOfC);
  product.bias = maybe(kernels, p.bias, p.n);
  product.residual = maybe(kernels, p.residual, lastOfC + 1);
  addProduct(kernels, product);
}

void add(GpuKernels &kernels, const plan::ConvolutionT &c) {
  int64_t outputs = c.batch * c.out_h * c.out_w * c.out_c;
  addConvolution(kernels, c,
                 {kernels.plain(int(c.src), {c.batch * c.in_h * c.in_w * c.in_c}),
                  kernels.plain(int(c.weights), {c.out_c * c.kernel_h * c.kernel_w * c.in_c}),
                  kernels.plain(int(c.dst), {outputs}), maybe(kernels, c.bias, c.out_c),
                  maybe(kernels, c.residual, outputs)});
}

int64_t measure(const auto &command) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  KernelModule none;
  GpuKernels kernels(&context, "product", none);
  add(kernels, command);
  return kernels.workspaceBytes;
}

CompiledProduct compile(const auto &command, const DeviceModel &device) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  CompiledProduct result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    result.error += (result.error.empty() ? "" : "\n") + diagnostic.str();
    return success();
  });
  KernelModule built;
  OwningOpRef<ModuleOp> module = makeKernelModule(&context, built);
  GpuKernels kernels(&context, "product", built);
  add(kernels, command);
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

int64_t workspaceBytes(const plan::MatMulT &product) { return measure(product); }
int64_t workspaceBytes(const plan::ConvolutionT &convolution) { return measure(convolution); }

CompiledProduct compileProduct(const plan::MatMulT &product, const DeviceModel &device) {
  return compile(product, device);
}
CompiledProduct compileProduct(const plan::ConvolutionT &convolution, const DeviceModel &device) {
  return compile(convolution, device);
}

} // namespace gc::cuda
