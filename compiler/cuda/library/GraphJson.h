//===- GraphJson.h - graphs and plans between the two processes -*- C++ -*-===//
//
// One JSON object a line. The first request is {"device", "options"}, answered by
// {"version", "driver"}. Each further one is {"<kind>": graph}, answered by a plan, or
// {"restore": plan}, answered by {"workspace"}. Any answer may be {"reason"} instead.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_GRAPHJSON_H
#define GC_COMPILER_CUDA_LIBRARY_GRAPHJSON_H

#include "compiler/cuda/library/LibraryPlanner.h"
#include <nlohmann/json.hpp>

namespace gc::cuda {

NLOHMANN_JSON_SERIALIZE_ENUM(GraphType, {{GraphType::F32, "f32"},
                                         {GraphType::F16, "f16"},
                                         {GraphType::BF16, "bf16"}})
NLOHMANN_JSON_SERIALIZE_ENUM(GraphActivation, {{GraphActivation::None, "none"},
                                               {GraphActivation::Relu, "relu"},
                                               {GraphActivation::Gelu, "gelu"}})
NLOHMANN_JSON_SERIALIZE_ENUM(ConvolutionGraph::Direction,
                             {{ConvolutionGraph::Direction::Forward, "forward"},
                              {ConvolutionGraph::Direction::Data, "data"},
                              {ConvolutionGraph::Direction::Weights, "weights"}})
NLOHMANN_JSON_SERIALIZE_ENUM(PoolGraph::Kind,
                             {{PoolGraph::Kind::Max, "max"}, {PoolGraph::Kind::Average, "average"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ConvolutionGraph, type, direction, batch, inH, inW, inC, outH,
                                   outW, outC, kernelH, kernelW, strideH, strideW, padH, padW, bias,
                                   residual, activation, accumulate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProductGraph, type, batch, m, n, k, aStrides, bStrides, cStrides,
                                   scale, bias, residual, activation, accumulate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerNormGraph, type, backward, rows, width, epsilon)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchNormGraph, type, backward, batch, height, width, channels,
                                   epsilon)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AttentionGraph, type, backward, batch, sequence, heads, headSize)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PoolGraph, type, kind, backward, batch, inH, inW, channels, outH,
                                   outW, kernelH, kernelW, strideH, strideW, padH, padW)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan::Tensor, role, id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan::Scalar, role, id, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan::Scratch, id, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPlan, plan, workspaceBytes, engine, tensors, scalars,
                                   scratch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannerOptions, allowNondeterministic, allowTf32, workspaceLimit,
                                   maxAlternatives)

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_GRAPHJSON_H
