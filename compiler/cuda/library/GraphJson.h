//===- GraphJson.h - graphs and plans between the two processes -*- C++ -*-===//
//
// One JSON object a line. The first request is {"device", "largest", "options"} (two
// descriptions of GPUs), answered by {"version", "driver"}. Each further one is {"<kind>": graph},
// answered by a plan, or
// {"restore": plan}, answered by {"workspace"}. Any answer may be {"reason"} instead.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_GRAPHJSON_H
#define GC_COMPILER_CUDA_LIBRARY_GRAPHJSON_H

#include "compiler/cuda/library/LibraryPlanner.h"
#include <nlohmann/json.hpp>

namespace gc::plan {

NLOHMANN_JSON_SERIALIZE_ENUM(DType, {{DType_F32, "f32"},
                                     {DType_I32, "i32"},
                                     {DType_I64, "i64"},
                                     {DType_U8, "u8"},
                                     {DType_F16, "f16"},
                                     {DType_BF16, "bf16"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Activation, {{Activation_None, "none"},
                                          {Activation_Relu, "relu"},
                                          {Activation_Gelu, "gelu"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Direction, {{Direction_Forward, "forward"},
                                         {Direction_BackwardData, "data"},
                                         {Direction_BackwardWeights, "weights"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ConvolutionSpecT, direction, type, accumulator, batch, in_h,
                                   in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h,
                                   stride_w, pad_h, pad_w, dilation_h, dilation_w, groups,
                                   activation, bias, residual, accumulate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MatMulSpecT, type, accumulator, batch, m, n, k, a_strides,
                                   b_strides, c_strides, scale, activation, bias, residual,
                                   accumulate)

} // namespace gc::plan

namespace gc::cuda {

NLOHMANN_JSON_SERIALIZE_ENUM(PoolGraph::Kind,
                             {{PoolGraph::Kind::Max, "max"}, {PoolGraph::Kind::Average, "average"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerNormGraph, type, backward, rows, width, epsilon)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchNormGraph, type, backward, batch, height, width, channels,
                                   epsilon)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AttentionGraph, type, backward, batch, sequence, heads, headSize)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PoolGraph, type, kind, backward, batch, inH, inW, channels, outH,
                                   outW, kernelH, kernelW, strideH, strideW, padH, padW)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan::Tensor, role, id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan::Scalar, role, id, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan::Scratch, id, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan, plan, workspaceBytes, engine, tensorCores, winograd,
                                   tensors, scalars, scratch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannerOptions, allowNondeterministic, allowTf32, workspaceLimit,
                                   maxAlternatives, driverVersion)

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_GRAPHJSON_H
