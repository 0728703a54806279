//===- LibraryPlanner.h - cuDNN's plans, made with no device ----*- C++ -*-===//
//
// cuDNN plans graphs for a described GPU. It does so in a process of its own (gc-cudnn-plan, beside
// this program): where the system has no driver, that process loads our compile-only one, which
// must never be in a process that could run something; and a library that crashes or prints does no
// harm.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_LIBRARY_LIBRARYPLANNER_H
#define GC_COMPILER_CUDA_LIBRARY_LIBRARYPLANNER_H

#include "compiler/cuda/DeviceModel.h"
#include "compiler/cuda/library/LibraryGraphs.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gc::cuda {

struct LibraryPlan {
  std::string plan; // the library's serialization, restored at run time
  int64_t workspaceBytes = 0;
  std::string engine;       // which, with its knobs; for reports
  bool tensorCores = false; // in an f32 product: TF32
  bool winograd = false;    // transforms tiles of the image, which costs digits
  /// Bound by id when the plan runs. Roles are those of LibraryGraphs.h.
  struct Tensor {
    std::string role;
    int64_t id = 0;
  };
  std::vector<Tensor> tensors;
  /// Given by value when the plan runs.
  struct Scalar {
    std::string role;
    int64_t id = 0;
    float value = 0;
  };
  std::vector<Scalar> scalars;
  /// Tensors that nobody else wants, to bind inside the workspace; `workspaceBytes` has room for
  /// them after the library's own part.
  struct Scratch {
    int64_t id = 0, offset = 0, bytes = 0;
  };
  std::vector<Scratch> scratch;
};

struct PlanAnswer {
  std::optional<LibraryPlan> plan; // the heuristics' first choice that is allowed
  std::string reason;              // why there is none
  /// Others in the heuristics' order, each with half the workspace of the one before or less, down
  /// to what is not worth saving (1 MiB).
  std::vector<LibraryPlan> alternatives;
};

struct PlannerOptions {
  /// Engines whose result may differ from run to run. Recomputation is not bit-identical then.
  bool allowNondeterministic = false;
  /// Engines that round f32 operands to TF32, or lose digits by Winograd's algorithm.
  bool allowTf32 = false;
  int64_t workspaceLimit = int64_t(1) << 40;
  int maxAlternatives = 8;
  /// The driver of the described device: what a plan is restored with must name the same.
  int driverVersion = 13000;
  /// The process that plans; empty: gc-cudnn-plan beside this program.
  std::string helper;
};

/// Equal graphs get equal answers (from a cache, and because planning has no state). Not for
/// several threads at once.
class LibraryPlanner {
public:
  /// Null, and `reason` set, where the library or its headers are missing.
  static std::unique_ptr<LibraryPlanner> create(const DeviceModel &device,
                                                const PlannerOptions &options, std::string &reason);
  ~LibraryPlanner();

  PlanAnswer plan(const plan::ConvolutionSpecT &graph);
  PlanAnswer plan(const plan::MatMulSpecT &graph);
  PlanAnswer plan(const LayerNormGraph &graph);
  PlanAnswer plan(const BatchNormGraph &graph);
  PlanAnswer plan(const AttentionGraph &graph);
  PlanAnswer plan(const PoolGraph &graph);

  /// Restores a serialized plan as the runtime will; the library's own part of its workspace, or
  /// nothing and `reason`.
  std::optional<int64_t> restore(const std::string &plan, std::string &reason);

  const std::string &libraryVersion() const; // "9.19.0"
  /// The driver that the library saw: "libcuda.so.1" or "compile-only driver of gc".
  const std::string &driver() const;

private:
  struct State;
  explicit LibraryPlanner(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_LIBRARYPLANNER_H
