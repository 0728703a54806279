//===- Tensor.h - a tensor of doubles ---------------------------*- C++ -*-===//
#ifndef GC_TEST_REFERENCE_TENSOR_H
#define GC_TEST_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace gc::reference {

/// A dense tensor, last dimension fastest. Integers (labels, indices, the generator) are held as
/// doubles too, which is exact up to 2^53.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> data;

  Tensor() = default;
  explicit Tensor(llvm::ArrayRef<int64_t> shape, double fill = 0) : shape(shape.vec()) {
    int64_t size = 1;
    for (int64_t d : shape)
      size *= d;
    data.assign(size, fill);
  }
  /// Zeros of a static tensor type.
  explicit Tensor(mlir::Type type) : Tensor(llvm::cast<mlir::RankedTensorType>(type).getShape()) {}

  int64_t size() const { return static_cast<int64_t>(data.size()); }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// The last dimension, 1 for a scalar.
  int64_t channels() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const { return size() / channels(); }

  double &operator[](int64_t i) { return data[i]; }
  double operator[](int64_t i) const { return data[i]; }

  int64_t offset(llvm::ArrayRef<int64_t> index) const {
    assert(index.size() == shape.size());
    int64_t result = 0;
    for (size_t d = 0; d < index.size(); ++d)
      result = result * shape[d] + index[d];
    return result;
  }
  double &at(std::initializer_list<int64_t> index) { return data[offset(index)]; }
  double at(std::initializer_list<int64_t> index) const { return data[offset(index)]; }

  /// The index of element `linear`.
  std::vector<int64_t> index(int64_t linear) const {
    std::vector<int64_t> result(shape.size());
    for (size_t d = shape.size(); d-- > 0; linear /= shape[d])
      result[d] = linear % shape[d];
    return result;
  }
};

} // namespace gc::reference

#endif
