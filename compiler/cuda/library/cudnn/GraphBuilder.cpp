//===- GraphBuilder.cpp - an operation graph for cuDNN --------------------===//
#include "compiler/cuda/library/cudnn/GraphBuilder.h"

namespace gc::cuda {

void require(bool condition, const char *what) {
  if (!condition)
    throw NoPlan(std::string("not a graph: ") + what);
}

Shape denseStrides(const Shape &dims) {
  Shape strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}
Shape channelsLast(const Shape &dims) {
  int64_t c = dims[1], h = dims[2], w = dims[3];
  return {h * w * c, 1, w * c, c};
}

static cudnnDataType_t dataTypeOf(plan::DType type) {
  switch (type) {
  case plan::DType_F32:
    return CUDNN_DATA_FLOAT;
  case plan::DType_F16:
    return CUDNN_DATA_HALF;
  case plan::DType_BF16:
    return CUDNN_DATA_BFLOAT16;
  default:
    throw NoPlan("not a graph: the library computes f32, f16 and bf16 alone");
  }
}

GraphBuilder::GraphBuilder(plan::DType type) : type(dataTypeOf(type)) {}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

const GraphTensor &GraphBuilder::describe(Shape dims, Shape strides, cudnnDataType_t type,
                                          int64_t alignment, bool isVirtual, bool isByValue) {
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, ++lastId)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, isVirtual)
      .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, isByValue)
      .finalize("describing a tensor");
  return tensors.emplace_back(GraphTensor{std::move(d), std::move(dims), std::move(strides)});
}

const GraphTensor &GraphBuilder::tensor(const char *role, Shape dims, Shape strides,
                                        cudnnDataType_t type, int64_t alignment) {
  auto &tensor = describe(std::move(dims), std::move(strides), type, alignment, false, false);
  tensorIds.push_back({role, lastId});
  return tensor;
}
const GraphTensor &GraphBuilder::tensor(const char *role, Shape dims, Shape strides) {
  return tensor(role, std::move(dims), std::move(strides), type);
}
const GraphTensor &GraphBuilder::scratch(Shape dims) {
  Shape strides = denseStrides(dims);
  int64_t bytes = 4 * dims.front() * strides.front();
  auto &tensor = describe(std::move(dims), std::move(strides), CUDNN_DATA_FLOAT, 16, false, false);
  scratches.push_back({lastId, scratchBytes, bytes});
  scratchBytes += (bytes + 255) / 256 * 256;
  return tensor;
}
const GraphTensor &GraphBuilder::value(Shape dims, Shape strides, cudnnDataType_t type) {
  return describe(std::move(dims), std::move(strides), type, 16, true, false);
}
const GraphTensor &GraphBuilder::scalar(const char *role, float value, size_t rank) {
  auto &tensor = describe(Shape(rank, 1), Shape(rank, 1), CUDNN_DATA_FLOAT, 4, false, true);
  scalars.push_back({role, lastId, value});
  return tensor;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void GraphBuilder::add(Descriptor operation, const char *what) {
  operation.finalize(what);
  operations.push_back(std::move(operation));
}

void GraphBuilder::addProduct(Descriptor operation, const char *what) {
  sawProduct = true;
  add(std::move(operation), what);
}

void GraphBuilder::product(const GraphTensor &a, const GraphTensor &b, const GraphTensor &c) {
  Descriptor kind(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  kind.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT).finalize("describing a product");
  Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.descriptor)
      .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.descriptor)
      .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c.descriptor)
      .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, kind);
  addProduct(std::move(operation), "matrix product");
}

void GraphBuilder::reduction(cudnnReduceTensorOp_t kindOf, const GraphTensor &x,
                             const GraphTensor &y) {
  Descriptor kind(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  kind.set(CUDNN_ATTR_REDUCTION_OPERATOR, kindOf)
      .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .finalize("describing a reduction");
  Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x.descriptor)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y.descriptor)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, kind);
  add(std::move(operation), "reduction");
}

void GraphBuilder::reshape(const GraphTensor &x, const GraphTensor &y) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x.descriptor)
      .set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y.descriptor);
  add(std::move(operation), "reshape");
}

void GraphBuilder::pointwise(cudnnPointwiseMode_t mode, const GraphTensor &x, const GraphTensor *b,
                             const GraphTensor &y) {
  Descriptor kind(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  kind.set(CUDNN_ATTR_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
      .finalize("describing an elementwise operation");
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kind)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x.descriptor)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y.descriptor);
  if (b)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b->descriptor);
  add(std::move(operation), "elementwise operation");
}
const GraphTensor &GraphBuilder::pointwise(cudnnPointwiseMode_t mode, const GraphTensor &x,
                                           const GraphTensor *b) {
  auto &y = value(x);
  pointwise(mode, x, b, y);
  return y;
}

const GraphTensor &GraphBuilder::beforeEpilogue(std::span<const Step> steps,
                                                const GraphTensor &output) {
  return steps.empty() ? output : value(output);
}
void GraphBuilder::finishEpilogue(std::span<const Step> steps, const GraphTensor &from,
                                  const GraphTensor &output) {
  const GraphTensor *last = &from;
  for (size_t i = 0; i < steps.size(); ++i) {
    const GraphTensor &next = beforeEpilogue(steps.subspan(i + 1), output);
    pointwise(steps[i].mode, *last, steps[i].operand, next);
    last = &next;
  }
}

Descriptor GraphBuilder::finish() const {
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const Descriptor &operation : operations)
    handles.push_back(operation.get());
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.setArray(CUDNN_ATTR_OPERATIONGRAPH_OPS, handles.data(), handles.size())
      .finalize("building the graph");
  return graph;
}

} // namespace gc::cuda
