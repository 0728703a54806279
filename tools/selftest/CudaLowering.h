// The conformance suite's operations for a GPU: products too, as kernels that the compiler
// generates.
#ifndef GC_TOOLS_SELFTEST_CUDALOWERING_H
#define GC_TOOLS_SELFTEST_CUDALOWERING_H

#include "compiler/cuda/DeviceModel.h"
#include "runtime/hal/conformance/Lowering.h"

class CudaLowering final : public gc::runtime::conformance::PtxLowering {
public:
  /// `model` is what code is generated for: see cudaModel().
  explicit CudaLowering(const gc::cuda::DeviceModel &model) : model(model) {}

  void target(gc::runtime::conformance::SmallPlan &plan) const override;
  bool hasProducts() const override { return true; }
  gc::runtime::Status convolution(gc::runtime::conformance::SmallPlan &plan,
                                  const gc::runtime::cpu::ConvolutionSpec &spec,
                                  const gc::runtime::conformance::ConvolutionOperands &operands,
                                  int threads) const override;
  gc::runtime::Status matmul(gc::runtime::conformance::SmallPlan &plan,
                             const gc::runtime::cpu::MatMulSpec &spec,
                             const gc::runtime::conformance::MatMulOperands &operands,
                             int threads) const override;

private:
  const gc::cuda::DeviceModel &model;
};

#endif // GC_TOOLS_SELFTEST_CUDALOWERING_H
