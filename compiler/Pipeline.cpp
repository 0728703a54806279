//===- Pipeline.cpp - the order of the passes -----------------------------===//
#include "compiler/Pipeline.h"
#include "compiler/cpu/CpuTarget.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Optimizer.h"
#include "passes/Passes.h"
#include "passes/PlanStep.h"
#include "runtime/hal/cpu/library/Library.h"

using namespace mlir;

namespace gc {

void buildTrainPipeline(OpPassManager &passes, const CompileOptions &options, TargetOf targetOf,
                        bool lean, StringRef selectName) {
  passes.addPass(createCheckModelPass());
  passes.addPass(createSimplifyPass());
  if (options.freeze.any())
    passes.addPass(
        createFreezePass({options.freeze.names, options.freeze.trainOnly, options.freeze.norms}));
  if (options.labelSmoothing)
    passes.addPass(createSmoothLabelsPass({*options.labelSmoothing}));
  if (options.split.parts != 1) {
    SplitPassOptions split;
    split.parts = options.split.parts;
    split.chains = options.split.chains;
    passes.addPass(createSplitPass(split));
  }
  if (options.evaluate)
    passes.addPass(createInferencePass());
  if (options.mixLabels)
    passes.addPass(createMixLabelsPass());
  passes.addPass(createAutodiffPass());
  passes.addPass(createOptimizerPass(options.optimizer, options.keepGradients));
  if (options.accumulate != 1) {
    AccumulatePassOptions accumulate;
    accumulate.microBatches = options.accumulate;
    passes.addPass(createAccumulatePass(accumulate));
  }
  if (options.precision.isMixed())
    passes.addPass(createMixedPrecisionPass({options.precision.type, options.precision.of}));
  passes.addPass(createExpandPass());
  passes.addNestedPass<func::FuncOp>(createFusePass());
  passes.addPass(createSelectKernelsPass(std::move(targetOf), lean, selectName));
  // Workspaces are known now.
  passes.addNestedPass<func::FuncOp>(createSchedulePass());
}

namespace {

// The name by which gc-opt knows the selection of kernels for the CPU.
constexpr StringLiteral kSelectForCpu = "gc-select-cpu";

struct TrainPipelineOptions : PassPipelineOptions<TrainPipelineOptions> {
  Option<std::string> optimizer{
      *this, "optimizer", llvm::cl::desc("sgd, adam, adamw, rmsprop, lion, lamb or adafactor"),
      llvm::cl::init("sgd")};
  Option<PassSetting<double>> lr{
      *this, "lr", llvm::cl::desc("learning rate (0.001; rmsprop, adafactor: 0.01; lion: 0.0001)")};
  Option<PassSetting<double>> momentum{*this, "momentum",
                                       llvm::cl::desc("sgd, rmsprop: momentum (0)")};
  Option<PassSetting<double>> dampening{*this, "dampening", llvm::cl::desc("sgd: dampening (0)")};
  Option<bool> nesterov{*this, "nesterov", llvm::cl::desc("sgd: Nesterov momentum"),
                        llvm::cl::init(false)};
  Option<PassSetting<double>> weightDecay{*this, "weight-decay",
                                          llvm::cl::desc("weight decay (0; adamw, lamb: 0.01)")};
  Option<PassSetting<double>> beta1{*this, "beta1",
                                    llvm::cl::desc("adam, lion, lamb: beta 1 (0.9)")};
  Option<PassSetting<double>> beta2{*this, "beta2",
                                    llvm::cl::desc("adam, lion, lamb: beta 2 (0.999; lion: 0.99)")};
  Option<PassSetting<double>> epsilon{
      *this, "epsilon",
      llvm::cl::desc(
          "adam, rmsprop, lamb, adafactor: epsilon (1e-8; lamb: 1e-6; adafactor: 2^-23)")};
  Option<PassSetting<double>> beta2Decay{
      *this, "beta2-decay", llvm::cl::desc("adafactor: exponent of what averages forget (-0.8)")};
  Option<PassSetting<double>> epsilon2{
      *this, "epsilon2", llvm::cl::desc("adafactor: least size of a parameter (0.001)")};
  Option<PassSetting<double>> clipUpdate{
      *this, "clip-update", llvm::cl::desc("adafactor: largest size of a direction (1)")};
  Option<PassSetting<double>> alpha{*this, "alpha", llvm::cl::desc("rmsprop: alpha (0.99)")};
  Option<bool> centered{*this, "centered", llvm::cl::desc("rmsprop: centered"),
                        llvm::cl::init(false)};
  Option<PassSetting<double>> clipNorm{
      *this, "clip-norm", llvm::cl::desc("most that the norm of all gradients may be")};
  Option<PassSetting<double>> clipValue{
      *this, "clip-value", llvm::cl::desc("most that an element of a gradient may be")};
  Option<std::string> noDecay{*this, "no-decay",
                              llvm::cl::desc("patterns of parameters without weight decay"),
                              llvm::cl::init("")};
  Option<std::string> lrScale{
      *this, "lr-scale",
      llvm::cl::desc("PATTERN=FACTOR,...: parameters with a multiple of the learning rate"),
      llvm::cl::init("")};
  Option<PassSetting<double>> ema{*this, "ema",
                                  llvm::cl::desc("decay of a moving average of the weights")};
  Option<std::string> freeze{*this, "freeze",
                             llvm::cl::desc("patterns of parameters that are not trained"),
                             llvm::cl::init("")};
  Option<std::string> trainOnly{*this, "train-only",
                                llvm::cl::desc("patterns of the only parameters that are trained"),
                                llvm::cl::init("")};
  Option<bool> freezeNorms{*this, "freeze-norms",
                           llvm::cl::desc("frozen batch norms run as in inference mode"),
                           llvm::cl::init(false)};
  Option<PassSetting<double>> labelSmoothing{
      *this, "label-smoothing", llvm::cl::desc("label smoothing of the losses (the model's own)")};
  Option<int64_t> accumulate{*this, "accumulate", llvm::cl::desc("micro-batches in a step"),
                             llvm::cl::init(1)};
  Option<int64_t> split{*this, "split",
                        llvm::cl::desc("parts of the batch that chains of ops are computed in"),
                        llvm::cl::init(1)};
  Option<std::string> policy{*this, "policy",
                             llvm::cl::desc("recompute none, all, sqrt, checkpoints or budget"),
                             llvm::cl::init("none")};
  Option<PassSetting<int>> checkpoints{*this, "checkpoints",
                                       llvm::cl::desc("how many, for policy=checkpoints (1)")};
  Option<std::string> budget{*this, "budget", llvm::cl::desc("of all bytes, for policy=budget"),
                             llvm::cl::init("")};
  Option<std::string> precision{*this, "precision",
                                llvm::cl::desc("f32, or bf16: products and what is saved in bf16"),
                                llvm::cl::init("f32")};
  Option<std::string> precisionOf{*this, "precision-of",
                                  llvm::cl::desc("PATTERN=TYPE,...: layers with another precision"),
                                  llvm::cl::init("")};
  Option<bool> keepGradients{*this, "keep-gradients",
                             llvm::cl::desc("keep gradients to the end of the step"),
                             llvm::cl::init(false)};
  Option<bool> evaluate{*this, "evaluate", llvm::cl::desc("add the model in inference mode"),
                        llvm::cl::init(false)};
  Option<bool> mixLabels{*this, "mix-labels", llvm::cl::desc("a loss of two labels and a share"),
                         llvm::cl::init(false)};
};

FreezeWish freezeWishOf(const TrainPipelineOptions &given) {
  return {given.freeze, given.trainOnly, given.freezeNorms};
}

PrecisionWish precisionWishOf(const TrainPipelineOptions &given) {
  return {given.precision, given.precisionOf};
}

// Why the options are refused (one would be ignored, or they make no step); empty where they are
// fine.
std::string faultOf(const TrainPipelineOptions &given) {
  std::string wrong = settingsOf(given.optimizer, given).check();
  if (wrong.empty())
    wrong = precisionWishOf(given).check("precision", "precision-of");
  if (wrong.empty())
    wrong = freezeWishOf(given).check("freeze", "train-only");
  return !wrong.empty() ? wrong
                        : ignoredByPolicy(given.policy.getValue(), !given.budget.empty(),
                                          given.checkpoints.value.has_value());
}

void addTrainPipeline(OpPassManager &passes, const TrainPipelineOptions &given,
                      const TargetOf &target) {
  CompileOptions options;
  options.optimizer = settingsOf(given.optimizer, given);
  options.freeze = freezeWishOf(given);
  options.labelSmoothing = given.labelSmoothing.value;
  options.accumulate = given.accumulate;
  options.split.parts = given.split;
  options.precision = precisionWishOf(given);
  options.keepGradients = given.keepGradients;
  options.evaluate = given.evaluate;
  options.mixLabels = given.mixLabels;
  buildTrainPipeline(passes, options, target, /*lean=*/false, kSelectForCpu);
  PlanStepPassOptions plan;
  plan.policy = given.policy;
  plan.checkpoints = given.checkpoints;
  plan.budget = given.budget;
  plan.reserve = static_cast<int64_t>(runtime::cpu::kTransientPoolBytes);
  plan.microBatches = given.accumulate;
  passes.addPass(createPlanStepPass(plan));
}

} // namespace

void registerTrainPipeline() {
  TargetOf cpuTarget = [](MLIRContext *context) {
    return std::make_shared<cpu::CpuTarget>(context, 0);
  };
  registerPass([=] { return createSelectKernelsPass(cpuTarget, /*lean=*/false, kSelectForCpu); });
  // Not PassPipelineRegistration: that cannot refuse options that contradict each other.
  registerPassPipeline(
      "gc-train", "every pass from a model to a placed training step, for the CPU",
      [=](OpPassManager &passes, StringRef text, function_ref<LogicalResult(const Twine &)> error) {
        TrainPipelineOptions given;
        if (failed(given.parseFromString(text)))
          return failure();
        if (std::string wrong = faultOf(given); !wrong.empty())
          return error(wrong);
        addTrainPipeline(passes, given, cpuTarget);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> show) {
        show(TrainPipelineOptions());
      });
}

} // namespace gc
