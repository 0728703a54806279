//===- MakeTarget.cpp - the target of a compilation -----------------------===//
#include "compiler/MakeTarget.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/cuda/CudaTarget.h"
#include "runtime/plan/ExitCode.h"

namespace gc {

static MadeTarget makeCudaTarget(mlir::MLIRContext *context, const CompileOptions &options) {
  std::optional<cuda::DeviceModel> device;
  std::string reason;
  if (!options.target.empty()) {
    if (const cuda::DeviceModel *found = cuda::findDeviceModel(options.target))
      device = *found;
  } else if (!options.targetProperties.empty()) {
    device = cuda::describedDevice(options.targetProperties, reason);
    if (!device)
      return {nullptr, exits::Device, "the GPU at hand " + reason + "; say --target"};
  }
  std::string known;
  for (const cuda::DeviceModel &model : cuda::deviceModels())
    known += (known.empty() ? "" : ", ") + model.target + " (" + model.name + ")";
  known += "; gc-compile --targets lists cards by name";
  if (!device && options.target.empty())
    return {nullptr, exits::BadInput, "--device=cuda needs a --target to compile for: " + known};
  if (!device)
    return {nullptr, exits::BadInput,
            "--target=" + options.target + " is not known; there are " + known};
  if (options.cudaLibrary == "none")
    return {std::make_shared<cuda::CudaTarget>(context, *device, nullptr, "--cuda-library=none",
                                               options.threads),
            0, ""};
  cuda::PlannerOptions planner;
  planner.allowTf32 = options.allowTf32;
  planner.allowNondeterministic = options.allowNondeterministic;
  auto library = cuda::LibraryPlanner::create(*device, planner, reason);
  if (!library && options.cudaLibrary == "cudnn")
    return {nullptr, exits::Device,
            "cuDNN cannot plan: " + reason +
                "; --cuda-library=none generates every kernel, and auto does so where it must"};
  return {std::make_shared<cuda::CudaTarget>(context, *device, std::move(library), reason,
                                             options.threads),
          0, ""};
}

MadeTarget makeTarget(mlir::MLIRContext *context, const CompileOptions &options) {
  if (options.device == "cpu") {
    if (!options.target.empty())
      return {nullptr, exits::BadInput,
              "--target=" + options.target +
                  ": the cpu device has no targets, it is compiled for this machine"};
    if (options.cudaLibrary != "auto" || options.allowTf32 || options.allowNondeterministic)
      return {nullptr, exits::BadInput,
              "--cuda-library, --allow-tf32 and --allow-nondeterministic go with --device=cuda"};
    return {std::make_shared<cpu::CpuTarget>(context, options.threads), 0, ""};
  }
  if (options.device == "cuda")
    return makeCudaTarget(context, options);
  return {nullptr, exits::Device,
          "device '" + options.device + "' is not known; there are cpu and cuda"};
}

} // namespace gc
