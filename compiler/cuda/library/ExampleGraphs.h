//===- ExampleGraphs.h - one graph of each kind -----------------*- C++ -*-===//
//
// Of resnet-50 and vit-small at batch 16: what the table in PLANS.md and the tests plan.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_EXAMPLEGRAPHS_H
#define GC_COMPILER_CUDA_LIBRARY_EXAMPLEGRAPHS_H

#include "compiler/cuda/library/LibraryGraphs.h"
#include <string>
#include <variant>
#include <vector>

namespace gc::cuda {

using LibraryGraph = std::variant<plan::ConvolutionSpecT, plan::MatMulSpecT, LayerNormGraph,
                                  BatchNormGraph, AttentionGraph, PoolGraph>;
struct ExampleGraph {
  std::string name;
  LibraryGraph graph;
};

std::vector<ExampleGraph> exampleGraphs(plan::DType type);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_EXAMPLEGRAPHS_H
