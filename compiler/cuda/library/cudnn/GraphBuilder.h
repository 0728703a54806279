//===- GraphBuilder.h - an operation graph for cuDNN ------------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_LIBRARY_CUDNN_GRAPHBUILDER_H
#define GC_COMPILER_CUDA_LIBRARY_CUDNN_GRAPHBUILDER_H

#include "compiler/cuda/library/LibraryPlanner.h"
#include "compiler/cuda/library/cudnn/Descriptor.h"
#include <deque>
#include <span>

namespace gc::cuda {

using Shape = std::vector<int64_t>;

struct GraphTensor {
  Descriptor descriptor;
  Shape dims, strides;
};

/// Row-major.
Shape denseStrides(const Shape &dims);
/// Of [batch, channels, height, width] stored as NHWC; filters [out, in, height, width] as OHWI.
Shape channelsLast(const Shape &dims);

/// Tensors and operations in the library's words. All arithmetic is f32. References stay valid.
class GraphBuilder {
public:
  explicit GraphBuilder(plan::DType type);

  /// A tensor in memory, of the graph's type unless told. Addresses are multiples of `alignment`.
  const GraphTensor &tensor(const char *role, Shape dims, Shape strides);
  const GraphTensor &tensor(const char *role, Shape dims, Shape strides, cudnnDataType_t type,
                            int64_t alignment = 16);
  /// One inside the workspace, f32.
  const GraphTensor &scratch(Shape dims);
  /// One that never reaches memory, f32 unless told.
  const GraphTensor &value(Shape dims, Shape strides, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  const GraphTensor &value(const GraphTensor &like) { return value(like.dims, like.strides); }
  const GraphTensor &scalar(const char *role, float value, size_t rank);

  /// Keeps a finished operation.
  void add(Descriptor operation, const char *what);
  /// Keeps one that multiplies matrices or filters.
  void addProduct(Descriptor operation, const char *what);
  void product(const GraphTensor &a, const GraphTensor &b, const GraphTensor &c);
  /// Of the dimensions that are 1 in y.
  void reduction(cudnnReduceTensorOp_t operation, const GraphTensor &x, const GraphTensor &y);
  void reshape(const GraphTensor &x, const GraphTensor &y);
  void pointwise(cudnnPointwiseMode_t mode, const GraphTensor &x, const GraphTensor *b,
                 const GraphTensor &y);
  /// The same into a new value like x.
  const GraphTensor &pointwise(cudnnPointwiseMode_t mode, const GraphTensor &x,
                               const GraphTensor *b = nullptr);

  /// Ends in `output` what is computed step by step: gives what the step before has to write. The
  /// steps must be finished, in order, by `finishEpilogue`.
  struct Step {
    cudnnPointwiseMode_t mode;
    const GraphTensor *operand = nullptr;
  };
  const GraphTensor &beforeEpilogue(std::span<const Step> steps, const GraphTensor &output);
  void finishEpilogue(std::span<const Step> steps, const GraphTensor &from,
                      const GraphTensor &output);

  Descriptor finish() const;
  cudnnDataType_t dataType() const { return type; }
  bool hasProduct() const { return sawProduct; }
  int64_t elementBytes() const { return type == CUDNN_DATA_FLOAT ? 4 : 2; }

  std::vector<LibraryPlan::Tensor> tensorIds;
  std::vector<LibraryPlan::Scalar> scalars;
  std::vector<LibraryPlan::Scratch> scratches; // offsets from the end of the library's workspace
  int64_t scratchBytes = 0;

private:
  const GraphTensor &describe(Shape dims, Shape strides, cudnnDataType_t type, int64_t alignment,
                              bool isVirtual, bool isByValue);
  cudnnDataType_t type;
  bool sawProduct = false;
  int64_t lastId = 0;
  std::deque<GraphTensor> tensors;
  std::deque<Descriptor> operations;
};

/// Only what has to be there: positive sizes and the like. Throws NoPlan.
void require(bool condition, const char *what);

void build(const plan::ConvolutionSpecT &graph, GraphBuilder &builder);
void build(const plan::MatMulSpecT &graph, GraphBuilder &builder);
/// The same in other words, for which the library has f32 engines without TF32; false if there are
/// none. What is accumulated is c itself then.
bool buildAsConvolution(const plan::MatMulSpecT &graph, GraphBuilder &builder);
void build(const LayerNormGraph &graph, GraphBuilder &builder);
void build(const BatchNormGraph &graph, GraphBuilder &builder);
void build(const AttentionGraph &graph, GraphBuilder &builder);
void build(const PoolGraph &graph, GraphBuilder &builder);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_CUDNN_GRAPHBUILDER_H
