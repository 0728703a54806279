//===- OpCosts.h - how long ops take ----------------------------*- C++ -*-===//
#ifndef GC_PASSES_ANALYSIS_OPCOSTS_H
#define GC_PASSES_ANALYSIS_OPCOSTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include <array>

namespace gc {

/// The resources that an op uses up; a machine has a rate for each (Roofline).
enum class Resource {
  Start,              // one for each op: what starting it costs
  ConvForward,        // FLOPs of convolutions, those of unused vector lanes included
  ConvData,           // FLOPs of gradients by their input
  ConvWeights,        // FLOPs of gradients by their filter
  ConvWeightsStrided, // with a stride and more than one tap; only half as fast
  MatMul,             // FLOPs of matrix products
  Attention,          // FLOPs of attention's products; its softmax slows them down
  ProductBytes,       // bytes that these move
  StreamBytes,        // bytes of pointwise kernels
  RowBytes,           // bytes of all other kernels: statistics, pools, reductions, moves
  Arithmetic,         // FLOPs of generated kernels
};
constexpr size_t resourceCount = 11;
using Amounts = std::array<double, resourceCount>; // one for each resource

/// The name of a rate in files.
const char *rateName(size_t resource);

/// What a machine does of each resource in a second. There is one rate for bytes in the cache and
/// out of it: an op of a training step seldom finds its operands cached, and pointwise kernels
/// below 20 MB were seen at 54 GB/s, larger ones at 46. The defaults are medians of three runs of
///   gc-run --calibrate=FILE --threads=2
/// on two cores of an EPYC of the fourth generation (Zen 4, 32 MiB of L3).
struct Roofline {
  Amounts perSecond = {1.81e6, 207e9,  219e9,  201e9,  110e9, 214e9,
                       141e9,  17.5e9, 49.4e9, 28.9e9, 163e9};

  /// The attribute `gc.roofline` of the module around `op`, else the defaults.
  static Roofline of(mlir::Operation *op);
  void set(mlir::Operation *module) const;
};

/// Fails, with an error at the op, where an op of a step does not say what it costs and whether it
/// may be repeated. Passes on a step, or on all lists of a module, ask this first.
llvm::LogicalResult requireCosts(mlir::func::FuncOp function);
llvm::LogicalResult requireCosts(mlir::ModuleOp module);

/// What an op uses up. The parts of an op's time are added, not the largest taken: kernels overlap
/// little of loading and computing, and the sum fits measurements better.
Amounts workOf(mlir::Operation *op);

/// What that takes on a machine of these rates.
double secondsOf(const Amounts &work, const Roofline &roofline);

/// Seconds of an op: its attribute `gc.seconds` where it was measured (set by setCosts in
/// `compiler/Costs.h`) or its target knows more of it than it says itself (Target::seconds), else
/// by the roofline. Clones inherit them.
class OpCosts {
public:
  double seconds(mlir::Operation *op) const;
};

} // namespace gc

#endif
