//===- CudaTarget.cpp - gc ops as commands for CUDA -----------------------===//
#include "compiler/cuda/CudaTarget.h"
#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/OpTimes.h"
#include "compiler/cuda/StoreKernels.h"
#include "compiler/target/CommandWriter.h"
#include "compiler/target/Products.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/analysis/Liveness.h"
#include "runtime/plan/CudnnProfile.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace gc::cuda {

CudaTarget::CudaTarget(MLIRContext *context, DeviceModel device, LibraryOps library,
                       ChoiceOptions options, int threads)
    : device(std::move(device)), library(std::move(library)),
      emitter(context, gridDeviceOf(this->device, options.allowTf32)), options(std::move(options)),
      rates(this->options.measured.value_or(rooflineOf(this->device))), threads(threads) {}

//===----------------------------------------------------------------------===//
// The library or generated kernels
//===----------------------------------------------------------------------===//

Amounts CudaTarget::libraryAmounts(Operation *op, const LibraryOp &call) {
  LaunchCosts following =
      call.needsBiasGradient ? emitter.biasGradientNeeds(op).costs : LaunchCosts();
  return libraryWork(op, call, following, device.tf32Speedup());
}

double CudaTarget::generatedSeconds(Operation *op, const LaunchCosts &costs) {
  if (std::optional<double> measured = options.times.find(op, Way::Generated))
    return *measured;
  return secondsOf(generatedWork(op, costs), rates) /
         options.speeds.find(op, Way::Generated).value_or(1);
}

void CudaTarget::compareWays(Operation *op, const LaunchCosts &generated, Choice &choice) {
  std::optional<double> library = options.times.find(op, Way::Library),
                        own = options.times.find(op, Way::Generated);
  if (library && own) {
    choice.librarySeconds = *library;
    choice.generatedSeconds = *own;
    choice.reason = "measured";
    return;
  }
  choice.librarySeconds = secondsOf(libraryAmounts(op, *choice.call), rates);
  choice.generatedSeconds = secondsOf(generatedWork(op, generated), rates);
  choice.reason = "predicted";
  std::optional<double> librarySpeed = options.speeds.find(op, Way::Library),
                        ownSpeed = options.speeds.find(op, Way::Generated);
  if (librarySpeed && ownSpeed) {
    choice.librarySeconds /= *librarySpeed;
    choice.generatedSeconds /= *ownSpeed;
    choice.reason = "by measured rates";
  }
  double scale = library ? *library / choice.librarySeconds
                 : own   ? *own / choice.generatedSeconds
                         : 0;
  if (scale > 0) {
    choice.librarySeconds *= scale;
    choice.generatedSeconds *= scale;
    choice.reason = "predicted, as one way alone was measured";
  }
}

const LibraryOp *CudaTarget::betterPlan(Operation *op, bool lean) {
  const LibraryOp *call = library.find(op, lean), *exact = library.findExact(op, lean);
  auto price = [&](const LibraryOp &one) {
    return lean ? double(one.plan.workspaceBytes) : secondsOf(libraryAmounts(op, one), rates);
  };
  return exact && price(*exact) < price(*call) ? exact : call;
}

CudaTarget::Choice CudaTarget::choose(Operation *op, bool lean) {
  const LibraryOp *call = betterPlan(op, lean);
  if (!call)
    return {};
  FailureOr<OpNeeds> needs = emitter.needs(op);
  if (failed(needs)) // sizing the op reports it
    return {call, nullptr};
  Choice choice{call};
  compareWays(op, needs->costs, choice);
  if (options.alwaysLibrary) {
    choice.reason = "asked for";
  } else if (call->plan.tensorCores && device.tf32FlopsPerClock == 0 &&
             StringRef(choice.reason).starts_with("predicted")) {
    // What is predicted for tensor cores of unknown speed is too slow.
    choice.reason = "tensor cores";
  } else if (lean && needs->workspaceBytes < call->plan.workspaceBytes) {
    choice.call = nullptr;
    choice.reason = "less workspace";
  } else if (choice.generatedSeconds < choice.librarySeconds) {
    choice.call = nullptr;
  }
  return choice;
}

const CudaTarget::Choice &CudaTarget::choiceFor(Operation *op, bool lean) {
  std::string key = kernels::keyOf(op, {}) + (lean ? "lean" : "");
  auto found = choices.find(key);
  if (found == choices.end())
    found = choices.try_emplace(key, choose(op, lean)).first;
  return found->second;
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

// Kernels and library graphs for GPUs compute f32 alone for now; nothing may run as if it were f32.
static bool hasHalves(Operation *op) {
  auto isHalf = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  return llvm::any_of(op->getOperandTypes(), isHalf) || llvm::any_of(op->getResultTypes(), isHalf);
}

FailureOr<int64_t> CudaTarget::workspaceBytes(Operation *op, bool lean) {
  if (hasHalves(op))
    return op->emitOpError(
        "cannot run on CUDA: it computes in bf16, and f32 alone is computed there "
        "yet");
  if (isNothing(op))
    return 0;
  const LibraryOp *call = chosen(op, lean);
  if (!call)
    return emitter.workspaceBytes(op);
  // Generated kernels use the same bytes of workspace: those that follow the library's graph, and
  // those that run instead where it does not restore.
  FailureOr<int64_t> twin = emitter.workspaceBytes(op);
  if (failed(twin))
    return failure();
  int64_t sums = call->needsBiasGradient ? emitter.biasGradientNeeds(op).workspaceBytes : 0;
  int64_t own = call->plan.workspaceBytes;
  return std::max({own ? own + plan::kWorkspaceSlack : 0, sums, *twin});
}

bool CudaTarget::prefersAccumulating(Operation *op, AccumulateProductOp accumulating, bool lean) {
  if (!convolutionSpec(accumulating) && !matMulSpec(accumulating))
    return false;
  // Generated products can always add to an accumulator; a library may not be able to.
  if (chosen(op, lean) && !library.find(accumulating, lean))
    return false;
  FailureOr<int64_t> apart = workspaceBytes(op, lean), inside = workspaceBytes(accumulating, lean);
  return succeeded(apart) && succeeded(inside) && isWorthAccumulating(op, *apart, *inside);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

LogicalResult CudaTarget::launch(const KernelLaunch &launch, std::vector<uint32_t> buffers,
                                 CommandWriter &writer) {
  writer.add(launchCommand(launch, std::move(buffers)));
  count(launch);
  return success();
}

void CudaTarget::count(const KernelLaunch &launch) {
  if (uses.size() <= launch.kernel)
    uses.resize(launch.kernel + 1);
  Use &use = uses[launch.kernel];
  ++use.launches;
  use.seconds +=
      std::max(launch.bytes / device.bytesPerSecond(), launch.flops / device.flopsPerSecond());
}

FailureOr<SmallVector<KernelLaunch>> CudaTarget::twinOf(Operation *op, const LibraryOp &call,
                                                        const OpBuffers &buffers) {
  FailureOr<SmallVector<KernelLaunch>> launches = emitter.emit(op, buffers.aliases());
  if (failed(launches) || !call.needsBiasGradient)
    return launches;
  // The sums of the bias's gradient come last, and have commands of their own beside the graph.
  FailureOr<SmallVector<KernelLaunch>> sums = emitter.emitBiasGradient(op);
  if (failed(sums))
    return failure();
  if (launches->size() <= sums->size())
    return op->emitOpError("has no generated kernels beside the sums of its bias's gradient");
  launches->truncate(launches->size() - sums->size());
  return launches;
}

LogicalResult CudaTarget::lowerLibrary(Operation *op, const LibraryOp &call,
                                       const OpBuffers &buffers, CommandWriter &writer) {
  auto [number, isNew] = graphNumbers.try_emplace(call.plan.plan, graphs.size());
  if (isNew) {
    auto graph = std::make_unique<plan::LibraryGraphT>();
    graph->name = call.name;
    graph->plan = call.plan.plan;
    graph->workspace_bytes = uint64_t(call.plan.workspaceBytes);
    graph->engine = call.plan.engine;
    graphs.push_back(std::move(graph));
  }
  plan::GraphCallT command;
  command.graph = number->second;
  SmallVector<kernels::ArgumentAccess> access;
  auto bindTo = [&](int64_t id, uint32_t buffer, int64_t offset, kernels::ArgumentAccess how) {
    command.ids.push_back(id);
    command.buffers.push_back(plan::View(buffer, uint64_t(offset)));
    access.push_back(how);
  };
  for (auto [tensor, binding] : llvm::zip_equal(call.plan.tensors, call.bindings))
    bindTo(tensor.id, writer.resolve(binding.buffer), binding.offset, binding.access);
  for (const LibraryPlan::Scratch &scratch : call.plan.scratch) // the workspace counts bytes
    bindTo(scratch.id, uint32_t(buffers.workspace), plan::kWorkspaceSlack + scratch.offset,
           {false, true});
  command.access = planAccess(access);
  for (const LibraryPlan::Scalar &scalar : call.plan.scalars) {
    command.scalar_ids.push_back(scalar.id);
    command.scalars.push_back(scalar.value);
  }
  command.workspace = buffers.workspace; // the twin may need it where the graph does not
  FailureOr<SmallVector<KernelLaunch>> twin = twinOf(op, call, buffers);
  if (failed(twin))
    return failure();
  for (const KernelLaunch &launch : *twin)
    command.twin.push_back(
        std::make_unique<plan::LaunchT>(launchCommand(launch, writer.resolve(launch.buffers))));
  writer.add(std::move(command));
  if (!call.needsBiasGradient)
    return success();
  FailureOr<SmallVector<KernelLaunch>> sums = emitter.emitBiasGradient(op);
  if (failed(sums))
    return failure();
  for (const KernelLaunch &one : *sums)
    if (failed(launch(one, writer.resolve(one.buffers), writer)))
      return failure();
  return success();
}

LogicalResult CudaTarget::lower(Operation *op, bool lean, const OpBuffers &buffers, PartOf,
                                std::vector<std::unique_ptr<plan::CommandT>> &commands) {
  if (isNothing(op))
    return success();
  CommandWriter writer(op, buffers, commands);
  const Choice &choice = choiceFor(op, lean);
  if (choice.reason) {
    Tally &tally =
        tallies[{op->getName().stripDialect().str(), choice.call != nullptr, choice.reason}];
    ++tally.ops;
    tally.librarySeconds += choice.librarySeconds;
    tally.generatedSeconds += choice.generatedSeconds;
  }
  if (choice.call) {
    if (failed(lowerLibrary(op, *choice.call, buffers, writer)))
      return failure();
  } else {
    FailureOr<SmallVector<KernelLaunch>> launches = emitter.emit(op, buffers.aliases());
    if (failed(launches))
      return failure();
    for (const KernelLaunch &one : *launches)
      if (failed(launch(one, writer.resolve(one.buffers), writer)))
        return failure();
  }
  writer.finish();
  return success();
}

//===----------------------------------------------------------------------===//
// Updates that follow each other
//===----------------------------------------------------------------------===//

static SmallVector<int> buffersOf(const OpBuffers &buffers) {
  SmallVector<int> all(buffers.operands.begin(), buffers.operands.end());
  all.append(buffers.variables.begin(), buffers.variables.end());
  return all;
}

// Updates of one kind that touch nothing of each other's, as many as a kernel has parameters for.
size_t CudaTarget::updatesAtOnce(ArrayRef<UpdateOpInterface> updates, ArrayRef<OpBuffers> buffers) {
  constexpr size_t parameters = 4096 / sizeof(uint64_t); // devices take 4 KiB of them
  llvm::DenseSet<int> used, changed;
  for (size_t i = 0; i < updates.size(); ++i) {
    // gc.adafactor is not point by point: it has a kernel of its own.
    if (updates[i]->getName() != updates[0]->getName() || isa<AdafactorOp>(updates[i]))
      return i;
    auto isChanged = [&](unsigned buffer) { return changed.contains(int(buffer)); };
    auto isUsed = [&](unsigned buffer) { return used.contains(int(buffer)); };
    if (llvm::any_of(buffers[i].operands, isChanged) || llvm::any_of(buffers[i].variables, isUsed))
      return i;
    SmallVector<int> own = buffersOf(buffers[i]);
    used.insert(own.begin(), own.end());
    changed.insert(buffers[i].variables.begin(), buffers[i].variables.end());
    if (used.size() > parameters)
      return i;
  }
  return updates.size();
}

LogicalResult CudaTarget::lowerUpdates(ArrayRef<UpdateOpInterface> updates,
                                       ArrayRef<OpBuffers> buffers,
                                       std::vector<std::unique_ptr<plan::CommandT>> &commands) {
  SmallVector<SmallVector<int>> numbers;
  for (const OpBuffers &one : buffers)
    numbers.push_back(buffersOf(one));
  FailureOr<KernelLaunch> launch = emitter.emitUpdates(updates, numbers);
  if (failed(launch))
    return failure();
  count(*launch);
  commands.push_back(commandOf(updates));
  std::vector<uint32_t> arguments(launch->buffers.begin(), launch->buffers.end());
  commands.back()->operation.Set(launchCommand(*launch, std::move(arguments)));
  return success();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static void forLaunches(plan::PlanT &plan, llvm::function_ref<void(plan::LaunchT &)> body) {
  for (plan::CommandListT *list :
       {plan.once.get(), plan.micro_batch.get(), plan.step.get(), plan.evaluate.get()})
    if (list)
      for (auto &command : list->commands) {
        if (plan::LaunchT *launch = command->operation.AsLaunch())
          body(*launch);
        else if (plan::GraphCallT *call = command->operation.AsGraphCall())
          for (auto &twin : call->twin)
            body(*twin);
      }
}

static nlohmann::json resourceRow(const KernelResources &resources, int64_t launches,
                                  double seconds) {
  auto known = [](auto value) { return value < 0 ? nlohmann::json() : nlohmann::json(value); };
  return {{"name", resources.name},
          {"launches", launches},
          {"threads", resources.threadsPerBlock},
          {"registers", known(resources.registers)},
          {"spill_bytes", known(resources.spillBytes)},
          {"stack_bytes", known(resources.stackBytes)},
          {"shared_bytes", resources.sharedBytes},
          {"blocks", known(resources.blocksPerMultiprocessor)},
          {"blocks_asked", resources.askedBlocks},
          {"occupancy", known(resources.occupancy)},
          {"limited_by", resources.limiter},
          {"seconds_predicted", seconds}};
}

LogicalResult CudaTarget::finish(plan::PlanT &plan, const std::string &dumpDirectory,
                                 nlohmann::json &report) {
  CodegenOptions codegen;
  codegen.device = &device;
  codegen.threads = threads;
  codegen.dumpDirectory = dumpDirectory;
  codegen.assemble = options.assemble;
  FailureOr<KernelImages> compiled = compileKernels(emitter.module(), codegen);
  if (failed(compiled))
    return failure();

  SmallVector<plan::LaunchT *> launches;
  forLaunches(plan, [&](plan::LaunchT &launch) { launches.push_back(&launch); });
  plan.kernels = std::make_unique<plan::KernelsT>(storeKernels(*compiled, launches));
  plan.graphs = std::move(graphs);
  plan.target = std::make_unique<plan::TargetT>();
  plan.target->device = "cuda";
  plan.target->architecture = device.target;
  plan.target->card = device.name;
  plan.target->multiprocessors = uint32_t(device.servedMultiprocessors);
  plan.target->cubin_cuda = uint32_t(compiled->assemblerCuda);
  plan.target->library_version = plan.graphs.empty() ? "" : library.version();

  nlohmann::json table = nlohmann::json::array();
  uses.resize(compiled->resources.size());
  for (auto [resources, use] : llvm::zip_equal(compiled->resources, uses))
    table.push_back(resourceRow(resources, use.launches, use.seconds));
  nlohmann::json refusals = nlohmann::json::array();
  for (const LibraryOps::Refusal &refusal : library.refusals())
    refusals.push_back({{"op", refusal.name}, {"reason", refusal.reason}, {"ops", refusal.ops}});
  nlohmann::json chosenWays = nlohmann::json::array();
  for (const auto &[what, tally] : tallies)
    chosenWays.push_back({{"op", std::get<0>(what)},
                          {"way", std::get<1>(what) ? "library" : "generated"},
                          {"reason", std::get<2>(what)},
                          {"ops", tally.ops},
                          {"library_seconds", tally.librarySeconds},
                          {"generated_seconds", tally.generatedSeconds}});
  report["kernels"] = plan.kernels->symbols.size();
  report["cuda"] = {{"target", device.target},
                    {"device", device.name},
                    {"device_memory_bytes", device.memoryBytes},
                    {"multiprocessors", device.servedMultiprocessors},
                    {"assembler", compiled->assembler},
                    {"cubin_cuda", compiled->assemblerCuda},
                    {"ptx_version", device.ptxVersion()},
                    {"generated_products", !options.allowTf32 ? "f32"
                                           : device.hasTf32()
                                               ? "tf32"
                                               : "f32: " + device.target + " has no TF32"},
                    {"library", library.description()},
                    {"library_version", library.version()},
                    {"no_library_because", library.whyNoLibrary()},
                    {"library_graphs", plan.graphs.size()},
                    {"generated_instead", std::move(refusals)},
                    {"choices", std::move(chosenWays)},
                    {"kernels", std::move(table)}};
  return success();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

Roofline rooflineOf(const DeviceModel &device) {
  double flops = device.flopsPerSecond(), bytes = device.bytesPerSecond();
  Roofline roofline;
  auto set = [&](Resource resource, double rate) {
    roofline.perSecond[static_cast<size_t>(resource)] = rate;
  };
  set(Resource::Start, launchesPerSecond);
  set(Resource::ConvForward, productFlopsShare * flops);
  set(Resource::ConvData, 0.55 * flops);
  set(Resource::ConvWeights, 0.5 * flops);
  set(Resource::ConvWeightsStrided, 0.5 * flops);
  set(Resource::MatMul, 0.65 * flops);
  set(Resource::Attention, 0.35 * flops);
  set(Resource::ProductBytes, productBytesShare * bytes);
  set(Resource::StreamBytes, 0.85 * bytes);
  set(Resource::RowBytes, 0.7 * bytes);
  set(Resource::Arithmetic, 0.3 * flops);
  return roofline;
}

// Unless it was measured, from pinned memory over PCIe 4.0 x16 at half its peak; loaders fill that
// memory while the GPU computes, whatever the slots.
std::optional<double> CudaTarget::inputBytesPerSecond() const {
  return options.inputBytesPerSecond.value_or(16e9);
}

std::optional<Roofline> CudaTarget::roofline() const { return rates; }

std::optional<Target::OpWork> CudaTarget::work(Operation *op, bool lean) {
  if (isNothing(op) || !knowsCommandsOf(op))
    return std::nullopt;
  if (const LibraryOp *call = chosen(op, lean))
    return OpWork{libraryAmounts(op, *call), /*byLibrary=*/true};
  FailureOr<OpNeeds> needs = emitter.needs(op);
  if (failed(needs))
    return std::nullopt;
  return OpWork{generatedWork(op, needs->costs)};
}

std::optional<double> CudaTarget::seconds(Operation *op, bool lean) {
  if (isNothing(op) || !knowsCommandsOf(op))
    return std::nullopt;
  const Choice &choice = choiceFor(op, lean);
  Way way = choice.call ? Way::Library : Way::Generated,
      other = choice.call ? Way::Generated : Way::Library;
  // A profile's seconds are those of this very op, unless it ran the other way.
  if (op->hasAttr("gc.seconds") && (options.times.find(op, way) || !options.times.find(op, other)))
    return std::nullopt;
  if (choice.reason)
    return choice.call ? choice.librarySeconds : choice.generatedSeconds;
  FailureOr<OpNeeds> needs = emitter.needs(op);
  if (failed(needs))
    return std::nullopt;
  return generatedSeconds(op, needs->costs);
}

} // namespace gc::cuda
