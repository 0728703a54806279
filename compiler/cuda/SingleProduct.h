//===- SingleProduct.h - A product outside of any model ---------*- C++ -*-===//
//
// Generated kernels for one command of a hand-written plan: what the conformance suite asks of a
// GPU. Plain types only, as in Compile.h.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_SINGLEPRODUCT_H
#define GC_COMPILER_CUDA_SINGLEPRODUCT_H

#include "compiler/cuda/DeviceModel.h"
#include "runtime/plan/Plan_generated.h"
#include <string>
#include <vector>

namespace gc::cuda {

/// Bytes of scratch on such a GPU; where there are any, `workspace` must name a buffer of that size
/// when the product is compiled.
int64_t workspaceBytes(const plan::MatMulT &product, const DeviceModel &device);
int64_t workspaceBytes(const plan::ConvolutionT &convolution, const DeviceModel &device);

struct CompiledProduct {
  plan::KernelsT kernels;              // PTX alone
  std::vector<plan::LaunchT> launches; // in order, on the buffers that the command names
  std::string error;                   // every diagnostic; empty where all is well
};
CompiledProduct compileProduct(const plan::MatMulT &product, const DeviceModel &device);
CompiledProduct compileProduct(const plan::ConvolutionT &convolution, const DeviceModel &device);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_SINGLEPRODUCT_H
