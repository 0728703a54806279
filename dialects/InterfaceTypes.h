//===- InterfaceTypes.h - vocabulary of the gc interfaces -------*- C++ -*-===//
#ifndef GC_DIALECTS_INTERFACETYPES_H
#define GC_DIALECTS_INTERFACETYPES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace gc {

/// Whether running an op again gives the same bits (Exact) or it must run once in a micro-batch.
enum class Repetition { Exact, Once };

/// A fusible op computes every point of [rows, channels], or sums over the rows; None where this
/// instance of the op does neither.
enum class FusionKind { None, Elementwise, SumOverRows };

/// How a tensor is indexed in the space [rows, channels] of a fusible op.
enum class Access {
  Full,    // (row, channel)
  Channel, // (channel)
  Row,     // (row)
  Scalar,  // ()
};

/// What kind of work an op is: decides how fast its FLOPs and bytes go.
enum class WorkKind {
  ConvForward,
  ConvData,           // gradient of the input
  ConvWeights,        // gradient of the filter,
  ConvWeightsStrided, // with a stride and more than one tap
  MatMul,
  Attention,
  Stream, // point by point over whole tensors, in order
  Rows,   // all else: statistics, pools, reductions, moves
};

/// What an op does to the samples of a batch.
enum class Mixing {
  None,  // the result for a sample depends on that sample alone
  Mean,  // gives their mean: the mean over parts of the batch is the mean over all of it
  Mixed, // anything else
};

/// How an op takes part in mixed precision. Whatever it reads and writes, it computes in f32.
enum class PrecisionRule {
  Alike,   // what it reads and writes is of one type, but for what stays f32
  Apart,   // every operand and result has a type of its own
  Product, // as Apart; its factors have one type, and the sum of their products is rounded once
  Single,  // f32 alone
};

/// How the numbers that an op gives for several batches become one: by their mean, or by their sum.
enum class BatchReduction { Mean, Sum };

/// Tells whether the samples of the batch lie along a dimension of an operand.
using BatchDimensions = llvm::function_ref<bool(unsigned operand, int64_t dimension)>;

/// Operands and results of a forward op, by index, that its adjoint reads.
struct SavedValues {
  llvm::SmallVector<unsigned> operands;
  llvm::SmallVector<unsigned> results;
};

/// Bytes of a static tensor.
int64_t byteSize(mlir::Type type);
/// Elements of a static tensor.
int64_t elementCount(mlir::Type type);

namespace detail {
/// Whether a tensor has one dimension or none.
bool isSmall(mlir::Value value);
double defaultBytesMoved(mlir::Operation *op);
/// A fusible op may write a full result over a full operand of the same type; other ops that take
/// this default promise to read each row (or element) before they write it.
bool fusibleMayWriteOver(mlir::Operation *op, unsigned operand, unsigned result);
} // namespace detail
} // namespace gc

#endif
