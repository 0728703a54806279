//===- IndexWidth.cpp - Whether 32 bits are enough for a kernel's indices -===//
#include "compiler/cuda/ptx/IndexWidth.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace gc::cuda {
namespace {

constexpr int64_t limit = int64_t(1) << 31;

bool isIndex(Value value) { return getElementTypeOrSelf(value).isIndex(); }

class Ranges {
public:
  explicit Ranges(gpu::GPUFuncOp kernel) {
    solver.load<dataflow::DeadCodeAnalysis>();
    solver.load<dataflow::SparseConstantPropagation>();
    solver.load<dataflow::IntegerRangeAnalysis>();
    known = succeeded(solver.initializeAndRun(kernel));
  }

  /// Whether least <= value <= most, where the value is computed at all.
  bool within(Value value, int64_t least, int64_t most) const {
    if (!known)
      return false;
    auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!lattice)
      return false;
    if (lattice->getValue().isUninitialized()) // never executed
      return true;
    const ConstantIntRanges &range = lattice->getValue().getValue();
    return range.smin().getSExtValue() >= least && range.smax().getSExtValue() <= most;
  }
  bool fits(Value value) const { return within(value, -limit, limit - 1); }
  /// The largest value, if that is known to be less than 2^31.
  std::optional<int64_t> largest(Value value) const {
    if (!fits(value))
      return std::nullopt;
    const auto &range = solver.lookupState<dataflow::IntegerValueRangeLattice>(value)->getValue();
    return range.isUninitialized() ? 0 : range.getValue().smax().getSExtValue();
  }

private:
  DataFlowSolver solver;
  bool known = false;
};

/// The counter's last increment goes beyond the bound, and is no value of the loop's body.
bool countersFit(LoopLikeOpInterface loop, const Ranges &ranges) {
  std::optional<SmallVector<OpFoldResult>> bounds = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!bounds || !steps) // a while loop: everything is a value
    return true;
  auto largest = [&](OpFoldResult number) -> std::optional<int64_t> {
    if (auto value = dyn_cast<Value>(number))
      return ranges.largest(value);
    return getConstantIntValue(number);
  };
  for (auto [bound, step] : llvm::zip_equal(*bounds, *steps)) {
    std::optional<int64_t> last = largest(bound), increment = largest(step);
    if (!last || !increment || *last + *increment > limit)
      return false;
  }
  return true;
}

/// Whether the operation gives the same result on sign-extended 32-bit operands, given that its
/// operands and results fit.
bool agreesInBothWidths(Operation *op, const Ranges &ranges) {
  if (isa<affine::AffineDialect, index::IndexDialect>(op->getDialect()))
    return false;
  if (llvm::none_of(op->getOperands(), isIndex) && llvm::none_of(op->getResults(), isIndex))
    return true;
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::IndexCastUIOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value value) { return ranges.within(value, 0, limit - 1); });
  if (isa<arith::ShLIOp, arith::ShRSIOp>(op))
    return ranges.within(op->getOperand(1), 0, 31);
  if (isa<arith::ShRUIOp>(op))
    return ranges.within(op->getOperand(0), 0, limit - 1) &&
           ranges.within(op->getOperand(1), 0, 31);
  return !isa<arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op);
}

} // namespace

bool indicesFitIn32Bits(gpu::GPUFuncOp kernel) {
  DataLayout layout = DataLayout::closest(kernel);
  for (Type type : kernel.getArgumentTypes()) {
    auto buffer = cast<MemRefType>(type);
    if (buffer.getNumElements() * int64_t(layout.getTypeSize(buffer.getElementType())) >= limit)
      return false;
  }
  Ranges ranges(kernel);
  auto valuesFit = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return !isIndex(value) || ranges.fits(value); });
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    bool fits = valuesFit(op->getResults()) && agreesInBothWidths(op, ranges);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        fits &= valuesFit(block.getArguments());
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      fits &= countersFit(loop, ranges);
    return fits ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

} // namespace gc::cuda
