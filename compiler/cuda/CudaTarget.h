//===- CudaTarget.h - gc ops as commands for CUDA ---------------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_CUDATARGET_H
#define GC_COMPILER_CUDA_CUDATARGET_H

#include "compiler/cuda/DeviceModel.h"
#include "compiler/cuda/LibraryOps.h"
#include "compiler/cuda/OpTimes.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/target/Target.h"

namespace gc {
class CommandWriter;
}

namespace gc::cuda {

/// What decides between the library and generated kernels where both can run an op, and how the
/// latter compute.
struct ChoiceOptions {
  bool alwaysLibrary = false;                // whatever takes less time
  std::optional<Roofline> measured;          // rates of the GPU, instead of its data sheet's
  MeasuredTimes times;                       // of ops
  ClassSpeeds speeds;                        // of products that are alike
  std::optional<double> inputBytesPerSecond; // from pinned memory, where it was measured
  bool allowTf32 = false; // generated products round operands, where the device can
  bool assemble = true;   // PTX, where there is an assembler
};

class CudaTarget : public Target {
public:
  CudaTarget(mlir::MLIRContext *context, DeviceModel device, LibraryOps library,
             ChoiceOptions options, int threads);

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
  std::optional<OpWork> work(mlir::Operation *op, bool lean) override;
  std::optional<double> seconds(mlir::Operation *op, bool lean) override;

private:
  /// Which way an op runs, and why.
  struct Choice {
    const LibraryOp *call = nullptr; // null: generated kernels
    const char *reason = nullptr;    // null: there was no choice
    double librarySeconds = 0, generatedSeconds = 0;
  };
  /// Equal ops get equal choices.
  const Choice &choiceFor(mlir::Operation *op, bool lean);
  Choice choose(mlir::Operation *op, bool lean);
  /// Of the library's plans for the op the one that is predicted to be faster or, `lean`, needs
  /// less workspace; null: it has none.
  const LibraryOp *betterPlan(mlir::Operation *op, bool lean);
  const LibraryOp *chosen(mlir::Operation *op, bool lean) { return choiceFor(op, lean).call; }
  /// Fills in both ways' seconds from one source, which is the reason: both measured, or both
  /// predicted. Where one alone was measured, both predictions are scaled by what it says.
  void compareWays(mlir::Operation *op, const LaunchCosts &generated, Choice &choice);
  Amounts libraryAmounts(mlir::Operation *op, const LibraryOp &call);
  /// Where there is no choice: measured, if it was, else predicted.
  double generatedSeconds(mlir::Operation *op, const LaunchCosts &costs);

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
  const ChoiceOptions options;
  const Roofline rates;
  llvm::StringMap<Choice> choices; // by op
  /// What the plan does where there was a choice: by kind of op, way and reason.
  struct Tally {
    int64_t ops = 0;
    double librarySeconds = 0, generatedSeconds = 0;
  };
  std::map<std::tuple<std::string, bool, std::string>, Tally> tallies;
  int threads;
  std::vector<Use> uses; // by kernel
  std::vector<std::unique_ptr<plan::LibraryGraphT>> graphs;
  llvm::StringMap<unsigned> graphNumbers; // by serialized plan
};

/// Rates of a device by its data sheet, and the shares of DeviceRates.h.
Roofline rooflineOf(const DeviceModel &device);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_CUDATARGET_H
