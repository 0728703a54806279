#include "tools/gc-import/Constant.h"

#include <algorithm>
#include <cmath>

namespace gc::importer {

static double rounded(DType dtype, double value) {
  switch (dtype) {
  case DType::F32:
    return static_cast<float>(value);
  case DType::F64:
  case DType::F16:
  case DType::BF16:
    return value; // half types are widened when a model is imported
  case DType::Bool:
    return value != 0;
  default:
    return std::trunc(value);
  }
}

ConstantPtr filled(DType dtype, const Shape &shape, double value) {
  return std::make_shared<Constant>(
      Constant{dtype, shape,
               std::vector<double>(static_cast<size_t>(product(shape)), rounded(dtype, value))});
}

ConstantPtr reshapeConstant(const Constant &x, const Shape &shape) {
  return std::make_shared<Constant>(Constant{x.dtype, shape, x.values});
}

static Shape stridesOf(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

/// Element by element, `shape` of them, from the places that `strides` lead to.
static ConstantPtr gathered(const Constant &x, const Shape &shape, const Shape &strides,
                            int64_t offset) {
  auto result = std::make_shared<Constant>(Constant{x.dtype, shape, {}});
  size_t count = static_cast<size_t>(product(shape));
  result->values.reserve(count);
  Shape index(shape.size(), 0);
  int64_t place = offset;
  for (size_t done = 0; done < count; ++done) {
    result->values.push_back(x.values[static_cast<size_t>(place)]);
    for (size_t i = shape.size(); i-- > 0;) {
      place += strides[i];
      if (++index[i] < shape[i])
        break;
      place -= strides[i] * shape[i];
      index[i] = 0;
    }
  }
  return result;
}

ConstantPtr permuteConstant(const Constant &x, const std::vector<int> &dimensions) {
  Shape from = stridesOf(x.shape), shape, strides;
  for (int dim : dimensions) {
    shape.push_back(x.shape[dim]);
    strides.push_back(from[dim]);
  }
  return gathered(x, shape, strides, 0);
}

ConstantPtr sliceConstant(const Constant &x, size_t dim, int64_t start, int64_t size) {
  Shape strides = stridesOf(x.shape), shape = x.shape;
  shape[dim] = size;
  return gathered(x, shape, strides, start * strides[dim]);
}

ConstantPtr expandConstant(const Constant &x, const Shape &shape) {
  if (x.shape == shape)
    return std::make_shared<Constant>(x);
  if (broadcastShape(x.shape, shape) != shape)
    return nullptr;
  Shape from = stridesOf(x.shape), strides(shape.size(), 0);
  size_t added = shape.size() - x.shape.size();
  for (size_t i = 0; i < x.shape.size(); ++i)
    strides[added + i] = x.shape[i] == 1 ? 0 : from[i];
  return gathered(x, shape, strides, 0);
}

ConstantPtr concatConstants(const std::vector<ConstantPtr> &parts, size_t dim) {
  auto result = std::make_shared<Constant>(Constant{parts[0]->dtype, parts[0]->shape, {}});
  result->shape[dim] = 0;
  int64_t before = 1;
  for (size_t i = 0; i < dim; ++i)
    before *= result->shape[i];
  for (const ConstantPtr &part : parts)
    result->shape[dim] += part->shape[dim];
  for (int64_t row = 0; row < before; ++row)
    for (const ConstantPtr &part : parts) {
      auto length = static_cast<std::ptrdiff_t>(part->values.size()) / before;
      result->values.insert(result->values.end(), part->values.begin() + row * length,
                            part->values.begin() + (row + 1) * length);
    }
  return result;
}

ConstantPtr castConstant(const Constant &x, DType dtype) {
  auto result = std::make_shared<Constant>(x);
  result->dtype = dtype;
  for (double &value : result->values)
    value = rounded(dtype, value);
  return result;
}

std::optional<Shape> broadcastShape(const Shape &a, const Shape &b) {
  Shape result = a.size() > b.size() ? a : b;
  const Shape &shorter = a.size() > b.size() ? b : a;
  size_t added = result.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t &size = result[added + i];
    if (size == 1)
      size = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != size)
      return std::nullopt;
  }
  return result;
}

} // namespace gc::importer
