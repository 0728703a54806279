//===- Inference.h - pieces of shape inference ------------------*- C++ -*-===//
#ifndef GC_DIALECTS_OPS_INFERENCE_H
#define GC_DIALECTS_OPS_INFERENCE_H

#include "dialects/Gc.h"

namespace gc {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline mlir::RankedTensorType withShape(mlir::Value like, llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, tensorType(like).getElementType());
}
/// The type of sums over a part of `like`: f32.
inline mlir::RankedTensorType sumsOf(mlir::Value like, llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, mlir::Float32Type::get(like.getContext()));
}
inline int64_t lastDim(mlir::Value value) { return tensorType(value).getShape().back(); }

/// Elements of a window that slide along one dimension; negative or zero if it does not fit.
inline int64_t slidingCount(int64_t size, int64_t window, int64_t stride, int64_t padding) {
  int64_t room = size + 2 * padding - window;
  return room < 0 || stride <= 0 ? 0 : room / stride + 1;
}

/// Whether an attribute is two numbers from `least` to the largest dimension.
inline bool isPair(llvm::ArrayRef<int64_t> numbers, int64_t least) {
  return numbers.size() == 2 && llvm::all_of(numbers, [=](int64_t number) {
           return number >= least && number <= kLargestDimension;
         });
}

/// Checks that `channel` is a vector as long as the last dimension of `full`.
mlir::LogicalResult verifyChannel(mlir::Operation *op, mlir::Value full, mlir::Value channel,
                                  llvm::StringRef name);
/// Checks that two tensors have the same type.
mlir::LogicalResult verifySame(mlir::Operation *op, mlir::Type expected, mlir::Type actual,
                               llvm::StringRef name);
/// Checks that a tensor has a shape, whatever its elements are.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::ArrayRef<int64_t> expected,
                                mlir::Value actual, llvm::StringRef name);
/// Checks that the two factors of a product have the same elements.
mlir::LogicalResult verifyFactors(mlir::Operation *op, mlir::Value a, mlir::Value b);
/// Whether tensors have the same shapes, whatever their elements are.
bool haveSameShapes(mlir::TypeRange a, mlir::TypeRange b);
/// Checks an attribute of two positive (or, for padding, non-negative) numbers.
mlir::LogicalResult verifyPair(mlir::Operation *op, llvm::ArrayRef<int64_t> pair,
                               llvm::StringRef name, int64_t least);
/// Checks a list of distinct dimensions of a tensor of rank `rank`.
mlir::LogicalResult verifyDimensions(mlir::Operation *op, llvm::ArrayRef<int64_t> dimensions,
                                     int64_t rank);
} // namespace gc

#endif
