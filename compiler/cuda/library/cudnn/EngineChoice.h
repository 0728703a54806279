//===- EngineChoice.h - which of cuDNN's engines computes a graph -*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_LIBRARY_CUDNN_ENGINECHOICE_H
#define GC_COMPILER_CUDA_LIBRARY_CUDNN_ENGINECHOICE_H

#include "compiler/cuda/library/cudnn/GraphBuilder.h"

namespace gc::cuda {

/// From the JSON that stands for a device.
Descriptor describeDevice(const std::string &json);

/// The device that plans are made for, and the largest of its kind that they shall serve.
struct PlannedDevices {
  Descriptor planned, largest;
  int largestCount = 0; // of multiprocessors; 0: the two are the same
};

/// The first allowed choice of the heuristics that builds and fits the workspace limit, then others
/// with half the workspace or less, each. Never empty: throws NoPlan with what was tried.
std::vector<LibraryPlan> chooseEngines(const GraphBuilder &graph, const PlannedDevices &devices,
                                       const PlannerOptions &options);

/// A serialized plan for that device again; gives the library's workspace. Throws NoPlan.
int64_t restorePlan(const std::string &plan, const Descriptor &device);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_CUDNN_ENGINECHOICE_H
