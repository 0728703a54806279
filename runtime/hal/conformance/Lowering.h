// How the suite's operations become commands: the cases say what is computed, a lowering with which
// commands and code a kind of device does it.
#ifndef GC_RUNTIME_HAL_CONFORMANCE_LOWERING_H
#define GC_RUNTIME_HAL_CONFORMANCE_LOWERING_H

#include "runtime/hal/conformance/SmallPlan.h"

namespace gc::runtime::conformance {

/// Buffers of the plan; -1: none.
struct ConvolutionOperands {
  uint32_t src = 0, weights = 0, dst = 0;
  int32_t bias = -1, residual = -1;
};
struct MatMulOperands {
  gc::plan::View a, b, c;
  int32_t bias = -1, residual = -1;
};

class Lowering {
public:
  virtual ~Lowering() = default;
  /// Writes what the plan is for.
  virtual void target(SmallPlan &plan) const = 0;

  /// False: the cases of convolutions and matrix products are left out.
  virtual bool hasProducts() const { return true; }
  /// Add what computes the spec, workspaces included.
  virtual Status convolution(SmallPlan &plan, const cpu::ConvolutionSpec &spec,
                             const ConvolutionOperands &operands, int threads) const = 0;
  virtual Status matmul(SmallPlan &plan, const cpu::MatMulSpec &spec,
                        const MatMulOperands &operands, int threads) const = 0;

  /// out[i] = 2 · in[i] + i for `items` items, by a kernel of the plan's own. `symbol`: its name in
  /// the plan, which may be wrong.
  virtual void affine(SmallPlan &plan, uint32_t in, uint32_t out, int64_t items, uint64_t grain,
                      const std::string &symbol = kAffine) const = 0;
  /// The same with bytes that are no code.
  virtual void damagedAffine(SmallPlan &plan, uint32_t in, uint32_t out) const = 0;
  /// Turns the plan into one for another machine; returns what the device's refusal must say.
  virtual std::string otherMachine(SmallPlan &plan) const = 0;

  static constexpr const char *kAffine = "conformance_affine";
};

/// A shared object and oneDNN. Also for the null device.
class CpuLowering final : public Lowering {
public:
  void target(SmallPlan &plan) const override;
  Status convolution(SmallPlan &plan, const cpu::ConvolutionSpec &spec,
                     const ConvolutionOperands &operands, int threads) const override;
  Status matmul(SmallPlan &plan, const cpu::MatMulSpec &spec, const MatMulOperands &operands,
                int threads) const override;
  void affine(SmallPlan &plan, uint32_t in, uint32_t out, int64_t items, uint64_t grain,
              const std::string &symbol) const override;
  void damagedAffine(SmallPlan &plan, uint32_t in, uint32_t out) const override;
  std::string otherMachine(SmallPlan &plan) const override;
};

/// PTX for any GPU. Products need a compiler: whoever has one derives from this.
class PtxLowering : public Lowering {
public:
  void target(SmallPlan &plan) const override;
  bool hasProducts() const override { return false; }
  Status convolution(SmallPlan &plan, const cpu::ConvolutionSpec &spec,
                     const ConvolutionOperands &operands, int threads) const override;
  Status matmul(SmallPlan &plan, const cpu::MatMulSpec &spec, const MatMulOperands &operands,
                int threads) const override;
  void affine(SmallPlan &plan, uint32_t in, uint32_t out, int64_t items, uint64_t grain,
              const std::string &symbol) const override;
  void damagedAffine(SmallPlan &plan, uint32_t in, uint32_t out) const override;
  std::string otherMachine(SmallPlan &plan) const override;
};

/// The text of the affine kernel for so many items.
std::string affinePtx(int64_t items);

/// What serves a device of this name where the caller has nothing better.
const Lowering &loweringFor(const std::string &device);

} // namespace gc::runtime::conformance

#endif // GC_RUNTIME_HAL_CONFORMANCE_LOWERING_H
