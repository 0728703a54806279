//===- CpuTarget.h - gc ops as commands for the CPU -------------*- C++ -*-===//
#ifndef GC_COMPILER_CPU_CPUTARGET_H
#define GC_COMPILER_CPU_CPUTARGET_H

#include "compiler/cpu/loops/LoopEmitter.h"
#include "compiler/target/Target.h"

namespace gc {
class CommandWriter;
}

namespace gc::cpu {

/// How fast this machine is, where that was measured.
struct CpuRates {
  std::optional<Roofline> roofline{};
  std::optional<double> inputBytesPerSecond{};
};

class CpuTarget : public Target {
public:
  CpuTarget(mlir::MLIRContext *context, int threads, CpuRates rates = {})
      : threads(threads), rates(rates), emitter(context) {}

  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, bool lean) override;
  bool prefersAccumulating(mlir::Operation *op, AccumulateProductOp accumulating,
                           bool lean) override;
  mlir::LogicalResult lower(mlir::Operation *op, bool lean, const OpBuffers &buffers, PartOf partOf,
                            std::vector<std::unique_ptr<plan::CommandT>> &commands) override;
  mlir::LogicalResult finish(plan::PlanT &plan, const std::string &dumpDirectory,
                             nlohmann::json &report) override;
  int64_t reserveBytes() const override; // the pool that answers what oneDNN allocates in a step
  std::optional<double> inputBytesPerSecond() const override { return rates.inputBytesPerSecond; }
  std::optional<Roofline> roofline() const override { return rates.roofline; }

private:
  void lowerAttention(mlir::Operation *op, const OpBuffers &buffers, PartOf partOf,
                      CommandWriter &writer);
  int threads;
  CpuRates rates;
  LoopEmitter emitter;
  bool multipliesHalves = false; // a command of the plan
};

} // namespace gc::cpu

#endif
