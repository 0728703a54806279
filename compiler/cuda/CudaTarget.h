//===- CudaTarget.h - gc ops as commands for CUDA ---------------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_CUDATARGET_H
#define GC_COMPILER_CUDA_CUDATARGET_H

#include "compiler/cuda/DeviceModel.h"
#include "compiler/cuda/LibraryOps.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/target/Target.h"

namespace gc {
class CommandWriter;
}

namespace gc::cuda {

class CudaTarget : public Target {
public:
  /// `library` may be null: then every op is generated, and `whyNoLibrary` tells reports why.
  CudaTarget(mlir::MLIRContext *context, DeviceModel device,
             std::unique_ptr<LibraryPlanner> library, std::string whyNoLibrary, int threads);

  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, bool lean) override;
  bool prefersAccumulating(mlir::Operation *op, AccumulateProductOp accumulating,
                           bool lean) override;
  mlir::LogicalResult lower(mlir::Operation *op, bool lean, const OpBuffers &buffers, PartOf partOf,
                            std::vector<std::unique_ptr<plan::CommandT>> &commands) override;
  bool joinsUpdates() const override { return true; }
  size_t updatesAtOnce(llvm::ArrayRef<UpdateOpInterface> updates,
                       llvm::ArrayRef<OpBuffers> buffers) override;
  mlir::LogicalResult lowerUpdates(llvm::ArrayRef<UpdateOpInterface> updates,
                                   llvm::ArrayRef<OpBuffers> buffers,
                                   std::vector<std::unique_ptr<plan::CommandT>> &commands) override;
  mlir::LogicalResult finish(plan::PlanT &plan, const std::string &dumpDirectory,
                             nlohmann::json &report) override;
  bool canBeLean() const override { return library.isThere(); }
  std::optional<double> inputBytesPerSecond() const override;
  std::optional<Roofline> roofline() const override;
  std::optional<double> seconds(mlir::Operation *op, bool lean) override;

private:
  struct Use { // how the plan uses a kernel
    int64_t launches = 0;
    double seconds = 0; // predicted, of all of them
  };
  mlir::LogicalResult launch(const KernelLaunch &launch, std::vector<uint32_t> buffers,
                             CommandWriter &writer);
  /// Counts a launch for the table of kernels.
  void count(const KernelLaunch &launch);
  /// The generated kernels that do what the library's graph does.
  mlir::FailureOr<llvm::SmallVector<KernelLaunch>>
  twinOf(mlir::Operation *op, const LibraryOp &call, const OpBuffers &buffers);
  mlir::LogicalResult lowerLibrary(mlir::Operation *op, const LibraryOp &call,
                                   const OpBuffers &buffers, CommandWriter &writer);

  const DeviceModel device;
  LibraryOps library;
  GridEmitter emitter;
  int threads;
  std::vector<Use> uses; // by kernel
  std::vector<std::unique_ptr<plan::LibraryGraphT>> graphs;
  llvm::StringMap<unsigned> graphNumbers; // by serialized plan
};

/// Rates of a device by its data sheet. What share of a peak is reached is assumed, not measured:
/// `gc-run --profile` on a device gives measured seconds for --costs.
Roofline rooflineOf(const DeviceModel &device);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_CUDATARGET_H
