//===- OpAnswers.h - answers that many ops give alike -----------*- C++ -*-===//
//
// What passes ask of every op (GcInterfaces.td) has no default: an op that does not answer does not
// compile. There are two exceptions, both of the costs: the bytes moved are those of each tensor
// once, and the workspace is what the target has written into `gc.workspace`. Most ops answer by
// one of these traits, which GcBase.td names; the others declare the interface's methods and define
// them in `ops/`.
//
//===----------------------------------------------------------------------===//
#ifndef GC_DIALECTS_OPANSWERS_H
#define GC_DIALECTS_OPANSWERS_H

#include "dialects/InterfaceTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace gc {

/// Which dimensions of its operands an op computes apart: elements of a result depend on the same
/// place along such a dimension alone.
enum class Apart {
  Everywhere,          // point by point, or moved as a whole
  AllButLast,          // rows: softmax
  First,               // samples: pooling
  FirstOfFirstOperand, // samples of the input; other operands have none
  Last,                // channels: batch norm
  Nowhere,
};

namespace detail {
/// Elements of the largest operand or result.
double largestElementCount(mlir::Operation *op);
/// Mixed where the batch lies along a dimension that is not computed apart.
Mixing mixingOf(mlir::Operation *op, Apart apart, BatchDimensions isBatch);
} // namespace detail

/// Gc_Cost: a kind of work, and FLOPs for each element of the op's largest tensor.
template <WorkKind kind, int flopsPerElement> struct Work {
  template <typename ConcreteOp>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteOp, Work<kind, flopsPerElement>::Impl> {
  public:
    WorkKind getWorkKind() { return kind; }
    double getFlops() {
      return flopsPerElement * detail::largestElementCount(this->getOperation());
    }
  };
};

/// Gc_Repeats: whether a clone gives the same bits.
template <Repetition repetition> struct Repeats {
  template <typename ConcreteOp>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteOp, Repeats<repetition>::Impl> {
  public:
    Repetition getRepetition() { return repetition; }
  };
};

/// Gc_Samples: along which dimensions the batch may lie without being mixed.
template <Apart apart> struct Samples {
  template <typename ConcreteOp>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteOp, Samples<apart>::Impl> {
  public:
    Mixing getMixing(BatchDimensions isBatch) {
      return detail::mixingOf(this->getOperation(), apart, isBatch);
    }
  };
};

/// Gc_KeepsMeans: what the op makes of a mean over the batch is one, as the op is linear up to a
/// constant. An op without this trait is taken to mix what it makes of a mean.
template <typename ConcreteOp>
class KeepsMeans : public mlir::OpTrait::TraitBase<ConcreteOp, KeepsMeans> {};

/// Gc_Reduces: how the numbers that the op gives for several batches become one.
template <BatchReduction reduction> struct Reduces {
  template <typename ConcreteOp>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteOp, Reduces<reduction>::Impl> {
  public:
    BatchReduction getReduction() { return reduction; }
  };
};

/// Gc_SameInInference: the op does in inference mode what it does in training.
template <typename ConcreteOp>
class SameInInference : public mlir::OpTrait::TraitBase<ConcreteOp, SameInInference> {
public:
  llvm::LogicalResult toInference() { return llvm::success(); }
};

/// Gc_TrainingOnly: the op has no place in inference mode.
template <typename ConcreteOp>
class TrainingOnly : public mlir::OpTrait::TraitBase<ConcreteOp, TrainingOnly> {
public:
  llvm::LogicalResult toInference() {
    return this->getOperation()->emitOpError("belongs to training and has no form for inference");
  }
};

} // namespace gc

#endif
