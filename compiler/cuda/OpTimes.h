//===- OpTimes.h - how long an op's launches take ---------------*- C++ -*-===//
//
// The roofline's formula (passes/analysis/OpCosts.h) with what this target knows of an op's
// commands instead of what the op says of itself: how many there are, which bytes they move, and by
// how much idle multiprocessors and the ends of matrices slow products down. Products are cut by
// the same formula (grids/ProductKernel.h), so that what makes them faster makes the prediction
// better.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_OPTIMES_H
#define GC_COMPILER_CUDA_OPTIMES_H

#include "compiler/cuda/LibraryOps.h"
#include "compiler/cuda/grids/GpuKernels.h"
#include "passes/analysis/OpCosts.h"
#include <map>

namespace gc::cuda {

/// Whether more is known of the op's commands than what the op says: products, and what a library
/// could run instead of generated kernels.
bool knowsCommandsOf(mlir::Operation *op);

/// What the generated kernels of such an op use up.
Amounts generatedWork(mlir::Operation *op, const LaunchCosts &costs);

/// What the library's graph uses up, and the kernels that follow it. Nothing is known of its tiles:
/// it is taken to fill the GPU. What is known is its workspace, through which engines convert
/// layouts or add up partial sums: all of it is written and read. FLOPs of a plan with tensor cores
/// are fewer by `tf32Speedup`.
Amounts libraryWork(mlir::Operation *op, const LibraryOp &call, const LaunchCosts &following,
                    double tf32Speedup);

/// Which way an op runs.
enum class Way { Library, Generated };

/// Seconds that ops took on a GPU, by what they are: kind, FLOPs and bytes. Equal ops have equal
/// ones; of several measurements the mean counts.
class MeasuredTimes {
public:
  void add(const std::string &kind, double flops, double bytes, Way way, double seconds);
  std::optional<double> find(mlir::Operation *op, Way way) const;

private:
  struct Sum {
    double seconds = 0;
    int64_t count = 0;
  };
  std::map<std::tuple<std::string, double, double, Way>, Sum> sums;
};

/// How fast products of a class (compiler/target/ShapeClass.h) were seen to be each way: how many
/// times the speed that the formula gives them with the rates measured beside.
class ClassSpeeds {
public:
  void add(const std::string &shapeClass, Way way, double speed) {
    speeds[{shapeClass, way}] = speed;
  }
  std::optional<double> find(mlir::Operation *op, Way way) const;

private:
  std::map<std::pair<std::string, Way>, double> speeds;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_OPTIMES_H
