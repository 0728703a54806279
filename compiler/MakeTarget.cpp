//===- MakeTarget.cpp - the target of a compilation -----------------------===//
#include "compiler/MakeTarget.h"
#include "compiler/Costs.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/cuda/CudaTarget.h"
#include "runtime/plan/ExitCode.h"

namespace gc {

// Rates of one kind of device say nothing about another.
static std::string refuseRatesOfAnotherDevice(const CompileOptions &options,
                                              const MeasuredCosts &costs) {
  if (!costs.roofline || costs.device.empty() || costs.device == options.device)
    return "";
  return "--costs: '" + options.costs + "' was measured on the " + costs.device +
         " device, and this plan is for " + options.device +
         (options.device == "cuda" ? "; gc-run --selftest --device=cuda measures a GPU"
                                   : "; gc-run --calibrate measures a CPU");
}

// Times of ops that ran on CUDA decide between the library and generated kernels; those of another
// device do not.
static std::string readMeasurements(const CompileOptions &options, cuda::ChoiceOptions &choice) {
  MeasuredCosts costs;
  if (options.costs.empty())
    return "";
  if (std::string error = readCosts(options.costs, costs); !error.empty())
    return error;
  if (std::string error = refuseRatesOfAnotherDevice(options, costs); !error.empty())
    return error;
  choice.measured = costs.roofline;
  choice.inputBytesPerSecond = costs.inputBytesPerSecond;
  if (costs.device != "cuda")
    return "";
  auto wayOf = [](bool byLibrary) { return byLibrary ? cuda::Way::Library : cuda::Way::Generated; };
  for (const MeasuredCosts::Op &op : costs.ops)
    choice.times.add(op.kind, op.flops, op.bytes, wayOf(op.isByLibrary()), op.seconds);
  for (const MeasuredCosts::ClassSpeed &one : costs.classSpeeds)
    choice.speeds.add(one.shapeClass, wayOf(one.byLibrary), one.speed);
  return "";
}

// Rates of this machine, from a file or from the tool that calls. Empty: built-in ones.
static std::string readRatesOfMachine(const CompileOptions &options, MeasuredCosts &costs) {
  if (!options.costs.empty()) {
    std::string error = readCosts(options.costs, costs);
    return error.empty() ? refuseRatesOfAnotherDevice(options, costs) : error;
  }
  if (options.machine.rates.empty())
    return "";
  return readRates(options.machine.rates, options.machine.name, costs);
}

static MadeTarget makeCpuTarget(mlir::MLIRContext *context, const CompileOptions &options) {
  if (!options.target.empty())
    return {nullptr, exits::BadInput,
            "--target=" + options.target +
                ": the cpu device has no targets, it is compiled for this machine"};
  if (options.cudaLibrary != "auto" || options.allowTf32 || options.allowNondeterministic)
    return {nullptr, exits::BadInput,
            "--cuda-library, --allow-tf32 and --allow-nondeterministic go with --device=cuda"};
  MeasuredCosts costs;
  if (std::string error = readRatesOfMachine(options, costs); !error.empty())
    return {nullptr, exits::BadInput, error};
  std::string from = !options.costs.empty()          ? options.costs
                     : options.machine.rates.empty() ? "built-in"
                                                     : options.machine.name;
  return {std::make_shared<cpu::CpuTarget>(
              context, options.threads, cpu::CpuRates{costs.roofline, costs.inputBytesPerSecond}),
          0, "", from};
}

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
  std::string from = options.costs.empty() ? "data sheet of " + device->name : options.costs;
  cuda::ChoiceOptions choice;
  choice.alwaysLibrary = options.cudaLibrary == "cudnn";
  choice.allowTf32 = options.allowTf32;
  choice.assemble = options.assemble;
  if (std::string error = readMeasurements(options, choice); !error.empty())
    return {nullptr, exits::BadInput, error};
  std::unique_ptr<cuda::LibraryPlanner> library, exact;
  if (options.cudaLibrary == "none") {
    reason = "--cuda-library=none";
  } else {
    cuda::PlannerOptions planner;
    planner.allowTf32 = options.allowTf32;
    planner.allowNondeterministic = options.allowNondeterministic;
    library = cuda::LibraryPlanner::create(*device, planner, reason);
    if (!library && options.cudaLibrary == "cudnn")
      return {nullptr, exits::Device,
              "cuDNN cannot plan: " + reason +
                  "; --cuda-library=none generates every kernel, and auto does so where it must"};
    // Plans with tensor cores need more memory, and may so be slower than others.
    constexpr double notMuchFaster = 2;
    planner.allowTf32 = false;
    std::string ignored;
    if (library && options.allowTf32 && device->tf32FlopsPerClock > 0 &&
        device->tf32Speedup() <= notMuchFaster)
      exact = cuda::LibraryPlanner::create(*device, planner, ignored);
  }
  return {std::make_shared<cuda::CudaTarget>(
              context, *device,
              cuda::LibraryOps(std::move(library), std::move(exact), std::move(reason)),
              std::move(choice), options.threads),
          0, "", from};
}

MadeTarget makeTarget(mlir::MLIRContext *context, const CompileOptions &options) {
  if (options.device == "cpu")
    return makeCpuTarget(context, options);
  if (options.device == "cuda")
    return makeCudaTarget(context, options);
  return {nullptr, exits::Device,
          "device '" + options.device + "' is not known; there are cpu and cuda"};
}

} // namespace gc
