//===- PlanBuilder.cpp - placed IR to a plan file -------------------------===//
#include "compiler/PlanBuilder.h"
#include "compiler/MemoryAtPeak.h"
#include "compiler/target/PlanType.h"
#include "compiler/target/Products.h"
#include "passes/Accumulate.h"
#include "passes/Freeze.h"
#include "passes/ModelFunction.h"
#include "passes/analysis/Dependence.h"
#include "runtime/plan/ElementType.h"
#include "runtime/plan/KernelLimits.h"
#include "runtime/plan/Metrics.h"
#include "runtime/plan/PlanFile.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace gc {
namespace {

class Builder {
public:
  Builder(const StepCandidate &step, const MemoryPlan &memory, const CompileOptions &options,
          Target &target, nlohmann::json &report)
      : module(step.module), symbols(module), lean(step.lean), memory(memory), options(options),
        target(target), report(report) {}

  FailureOr<std::vector<uint8_t>> run() {
    plan.model = module.getSymName().value_or("model").str();
    for (const PlannedBuffer &buffer : memory.buffers)
      if (failed(addBuffer(buffer)))
        return failure();
    plan.transients = memory.reserved;
    addVariables();
    addOptimizer();
    addInputs();
    // The step's commands are counted on from those of a micro-batch.
    for (bool step : {false, true})
      for (const PlannedFunction &function : memory.functions)
        if ((function.list == "step") == step && failed(addFunction(function)))
          return failure();
    spanPersistentBuffers();
    spanViews();
    if (failed(target.finish(plan, options.dumpKernels, report)))
      return failure();
    addMemory();
    reportJoined();
    report["commands"] = plan.micro_batch->commands.size();
    report["evaluate_commands"] = plan.evaluate ? plan.evaluate->commands.size() : 0;
    plan.report = report.dump();
    runtime::setKernelLimits(plan);
    flatbuffers::FlatBufferBuilder builder(1 << 20);
    plan::FinishPlanBuffer(builder, plan::Plan::Pack(builder, &plan));
    std::vector<std::byte> file =
        runtime::sealPlan({builder.GetBufferPointer(), builder.GetSize()});
    const auto *bytes = reinterpret_cast<const uint8_t *>(file.data());
    return std::vector<uint8_t>(bytes, bytes + file.size());
  }

  FailureOr<double> secondsSavedByJoining() {
    for (const PlannedBuffer &buffer : memory.buffers)
      if (failed(addBuffer(buffer)))
        return failure();
    addVariables();
    for (const PlannedFunction &function : memory.functions) {
      plan::CommandListT updates;
      func::FuncOp list = function.function;
      Block &body = list.getBody().front();
      for (auto next = body.begin(); next != std::prev(body.end());) {
        FailureOr<size_t> joined = joinUpdates(*next, function, updates);
        if (failed(joined))
          return failure();
        std::advance(next, std::max<size_t>(1, *joined));
      }
    }
    return joinedUpdates.secondsSaved;
  }

private:
  LogicalResult addBuffer(const PlannedBuffer &buffer) {
    auto b = std::make_unique<plan::BufferT>();
    b->name = buffer.name;
    b->kind = kindOf(buffer);
    if (buffer.type) {
      std::optional<plan::DType> dtype = planType(buffer.type);
      if (!dtype)
        return module.emitError("'")
               << buffer.name << "' is a " << buffer.type << ", which no plan can hold";
      b->dtype = *dtype;
      b->shape = cast<ShapedType>(buffer.type).getShape().vec();
    } else {
      b->dtype = plan::DType_U8;
      b->shape = {buffer.bytes};
    }
    b->offset = buffer.offset;
    b->bytes = buffer.bytes;
    plan.buffers.push_back(std::move(b));
    return success();
  }

  plan::BufferKind kindOf(const PlannedBuffer &buffer) {
    switch (buffer.kind) {
    case StorageKind::Variable:
      break;
    case StorageKind::Input:
      return plan::BufferKind_Input;
    case StorageKind::Activation:
      return plan::BufferKind_Activation;
    case StorageKind::Gradient:
      return plan::BufferKind_Gradient;
    case StorageKind::Workspace:
      return plan::BufferKind_Workspace;
    case StorageKind::Metric:
      return plan::BufferKind_Metric;
    }
    Operation *variable = symbols.lookup(buffer.name);
    auto state = dyn_cast<StateOp>(variable);
    if (!state)
      return plan::BufferKind_Parameter;
    switch (state.getRole()) {
    case StateRole::Optimizer:
    case StateRole::Schedule:
      return plan::BufferKind_OptimizerState;
    case StateRole::Accumulator: // also what counts micro-batches
      return cast<ShapedType>(state.getType()).getElementType().isF32() ? plan::BufferKind_Gradient
                                                                        : plan::BufferKind_State;
    case StateRole::RunningStatistic:
    case StateRole::Generator:
    case StateRole::Constant:
      return plan::BufferKind_State;
    }
    llvm_unreachable("all roles are handled");
  }

  static std::unique_ptr<plan::InitializerT> initializer(InitAttr init) {
    auto result = std::make_unique<plan::InitializerT>();
    result->kind = static_cast<plan::InitKind>(init.getKind());
    ArrayRef<double> values = init.getValues();
    if (init.getKind() == InitKind::Values) {
      result->values = values.vec();
      return result;
    }
    double *fields[] = {&result->a, &result->b, &result->c, &result->d};
    for (auto [field, value] : llvm::zip(fields, values))
      *field = value;
    return result;
  }

  void addVariables() {
    auto add = [&](StringRef name, Type type, InitAttr init, plan::VariableRole role) {
      auto v = std::make_unique<plan::VariableT>();
      variableNumbers[name] = plan.variables.size();
      if (name == kWindowScale && role == plan::VariableRole_Accumulator)
        plan.window_scale = static_cast<int>(plan.variables.size());
      if (role == plan::VariableRole_Schedule)
        plan.learning_rate = static_cast<int>(plan.variables.size());
      v->name = name.str();
      v->buffer = memory.variables.lookup(name);
      v->role = role;
      v->init = initializer(init);
      v->file_shape = cast<ShapedType>(type).getShape().vec();
      plan.variables.push_back(std::move(v));
      return plan.variables.back().get();
    };
    for (Operation &op : *module.getBody()) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        auto *v = add(parameter.getSymName(), parameter.getType(), parameter.getInit(),
                      plan::VariableRole_Parameter);
        plan.parameters += elementCount(parameter.getType());
        v->frozen = parameter->hasAttr(kFrozenAttr);
        if (auto shape = parameter.getFileShape()) {
          v->file_shape = shape->vec();
          v->file_split = parameter.getFileSplit()->vec();
          ArrayRef<int64_t> permutation = *parameter.getFilePermutation();
          v->file_permutation.assign(permutation.begin(), permutation.end());
        }
      } else if (auto state = dyn_cast<StateOp>(op)) {
        static constexpr plan::VariableRole roles[] = {
            plan::VariableRole_RunningStatistic, plan::VariableRole_OptimizerState,
            plan::VariableRole_Accumulator,      plan::VariableRole_Generator,
            plan::VariableRole_Schedule,         plan::VariableRole_Constant};
        add(state.getSymName(), state.getType(), state.getInit(),
            roles[static_cast<size_t>(state.getRole())]);
      }
    }
    module.walk([&](OptimizerOpInterface update) {
      if (FlatSymbolRefAttr average = update.getAverageAttr())
        plan.variables[variableNumbers.lookup(update.getParameterAttr().getValue())]->average =
            static_cast<int>(variableNumbers.lookup(average.getValue()));
    });
  }

  void addOptimizer() {
    OptimizerSettings settings = options.optimizer.withDefaults();
    plan.optimizer = std::make_unique<plan::OptimizerT>();
    plan::OptimizerT &o = *plan.optimizer;
    o.name = settings.name;
    o.lr = *settings.lr;
    o.momentum = settings.momentum.value_or(o.momentum);
    o.dampening = settings.dampening.value_or(o.dampening);
    o.nesterov = settings.nesterov;
    o.weight_decay = settings.weightDecay.value_or(o.weight_decay);
    o.beta1 = settings.beta1.value_or(o.beta1);
    o.beta2 = settings.beta2.value_or(o.beta2);
    o.epsilon = settings.epsilon.value_or(o.epsilon);
    o.alpha = settings.alpha.value_or(o.alpha);
    o.centered = settings.centered;
    o.beta2_decay = settings.beta2Decay.value_or(o.beta2_decay);
    o.epsilon2 = settings.epsilon2.value_or(o.epsilon2);
    o.clip_update = settings.clipUpdate.value_or(o.clip_update);
    o.clip_norm = settings.clipNorm.value_or(0);
    o.clip_value = settings.clipValue.value_or(0);
    o.no_decay = settings.noDecay;
    o.lr_scale = settings.lrScale;
    o.ema = settings.ema.value_or(0);
  }

  void addInputs() {
    for (auto &[name, slots] : memory.inputs) {
      auto input = std::make_unique<plan::InputT>();
      input->name = name;
      input->role = llvm::StringSwitch<plan::InputRole>(name)
                        .Case(kImageInput, plan::InputRole_Image)
                        .Case(kLabelInput, plan::InputRole_Label)
                        .Default(plan::InputRole_Other);
      if (options.mixLabels && name == kMixedLabelInput)
        input->role = plan::InputRole_MixedLabel;
      if (options.mixLabels && name == kShareInput)
        input->role = plan::InputRole_Share;
      input->slots.assign(slots.begin(), slots.end());
      plan.inputs.push_back(std::move(input));
    }
  }

  LogicalResult addFunction(const PlannedFunction &planned) {
    func::FuncOp function = planned.function;
    bool evaluate = planned.list == "evaluate";
    auto &list = evaluate ? plan.evaluate : planned.list == "step" ? plan.step : plan.micro_batch;
    if (!list)
      list = std::make_unique<plan::CommandListT>();
    commandsOf.clear();
    int before = planned.list == "step" && plan.micro_batch
                     ? static_cast<int>(plan.micro_batch->commands.size())
                     : 0;
    auto commands = [&] { return before + static_cast<int>(list->commands.size()); };
    Block &body = function.getBody().front();
    for (auto next = body.begin(); next != std::prev(body.end());) {
      FailureOr<size_t> joined = joinUpdates(*next, planned, *list);
      if (failed(joined))
        return failure();
      if (*joined > 0) {
        commandsOf.append(*joined, {commands() - 1, commands() - 1});
        std::advance(next, *joined);
        continue;
      }
      Operation &op = *next++;
      int first = commands();
      auto part = [&](unsigned buffer, int64_t offset, int64_t bytes) {
        return addPart(buffer, offset, bytes, first, evaluate);
      };
      OpBuffers buffers = buffersOf(op, planned);
      if (failed(target.lower(&op, lean, buffers, part, list->commands)))
        return failure();
      if (auto update = dyn_cast<UpdateOpInterface>(op))
        list->commands[first - before]->update = updateOf(update, buffers);
      commandsOf.push_back({first, commands() - 1});
      if (auto gradient = dyn_cast<GradientOp>(op))
        keepGradient(gradient, planned);
    }
    setLives(planned, evaluate, commands());
    if (failed(addMetrics(planned, evaluate)))
      return failure();
    if (evaluate)
      addOutputs(planned, commands());
    auto image = llvm::find_if(function.getArguments(), [](BlockArgument argument) {
      return cast<ShapedType>(argument.getType()).getRank() > 0;
    });
    if (planned.list == "micro_batch" && image != function.getArguments().end()) {
      plan.micro_batches = options.accumulate;
      plan.batch = cast<ShapedType>(image->getType()).getDimSize(0) * plan.micro_batches;
    }
    return success();
  }

  // How many updates, from `first` on, have become one command; 0 where that is none or one alone.
  FailureOr<size_t> joinUpdates(Operation &first, const PlannedFunction &planned,
                                plan::CommandListT &list) {
    SmallVector<UpdateOpInterface> updates;
    SmallVector<OpBuffers> buffers;
    for (Operation *op = &first; target.joinsUpdates() && op; op = op->getNextNode()) {
      auto update = dyn_cast<UpdateOpInterface>(op);
      if (!update)
        break;
      updates.push_back(update);
      buffers.push_back(buffersOf(*op, planned));
    }
    size_t count = updates.size() > 1 ? target.updatesAtOnce(updates, buffers) : 0;
    if (count < 2)
      return 0;
    updates.truncate(count);
    buffers.truncate(count);
    if (failed(target.lowerUpdates(updates, buffers, list.commands)))
      return failure();
    if (planned.list != "evaluate") {
      double apart = 0;
      for (UpdateOpInterface update : updates)
        apart += OpCosts().seconds(update);
      double times = planned.list == "step" ? 1 : double(options.accumulate);
      joinedUpdates.updates += count;
      ++joinedUpdates.commands;
      joinedUpdates.secondsSaved += times * (apart - list.commands.back()->seconds_predicted);
    }
    for (auto [part, update, own] : llvm::zip_equal(list.commands.back()->parts, updates, buffers))
      part->update = updateOf(update, own);
    return count;
  }

  // The parameter that the op changes, null if it changes none. The first operand of an update is
  // its gradient.
  std::unique_ptr<plan::UpdateT> updateOf(UpdateOpInterface update, const OpBuffers &buffers) {
    for (FlatSymbolRefAttr variable : update.getVariables()) {
      unsigned number = variableNumbers.lookup(variable.getValue());
      if (plan.variables[number]->role != plan::VariableRole_Parameter)
        continue;
      auto mark = std::make_unique<plan::UpdateT>();
      mark->parameter = number;
      mark->gradient = buffers.operands[0];
      return mark;
    }
    return nullptr;
  }

  OpBuffers buffersOf(Operation &op, const PlannedFunction &planned) {
    OpBuffers buffers;
    for (Value operand : op.getOperands())
      buffers.operands.push_back(bufferOf(operand, planned));
    for (Value result : op.getResults())
      buffers.results.push_back(planned.buffers.lookup(result));
    for (FlatSymbolRefAttr variable : variablesWritten(&op))
      buffers.variables.push_back(memory.variables.lookup(variable.getValue()));
    if (auto it = planned.workspaces.find(&op); it != planned.workspaces.end())
      buffers.workspace = static_cast<int>(it->second);
    return buffers;
  }

  // A view of some bytes of another value is a part of that value's buffer.
  unsigned bufferOf(Value value, const PlannedFunction &planned) {
    unsigned whole = planned.buffers.lookup(value);
    int64_t bytes = byteSize(value.getType());
    if (bytes == byteSize(storageOf(value).getType()))
      return whole;
    auto [known, isNew] = views.try_emplace(value, 0);
    if (isNew)
      known->second =
          addPart(whole, offsetInStorage(value), bytes, /*command=*/0, planned.list == "evaluate");
    return known->second;
  }

  // Views live as long as what they show.
  void spanViews() {
    for (auto [value, index] : views) {
      plan::BufferT &view = *plan.buffers[index], &whole = *plan.buffers[view.part_of];
      view.first_command = whole.first_command;
      view.last_command = whole.last_command;
    }
  }

  // A part has the elements of its whole. A workspace is bytes; what kernels keep there are sums
  // and scores, which are f32 whatever networks compute in.
  unsigned addPart(unsigned whole, int64_t offset, int64_t bytes, int command, bool evaluate) {
    const plan::BufferT &from = *plan.buffers[whole];
    plan::DType dtype = from.kind == plan::BufferKind_Workspace ? kScoreType : from.dtype;
    if (offset == 0 && bytes == static_cast<int64_t>(from.bytes) && from.dtype == dtype)
      return whole;
    auto part = std::make_unique<plan::BufferT>();
    part->name = from.name;
    part->kind = from.kind;
    part->dtype = dtype;
    part->shape = {bytes / static_cast<int64_t>(runtime::elementBytes(dtype))};
    part->offset = from.offset + offset;
    part->bytes = bytes;
    part->part_of = static_cast<int>(whole);
    part->evaluate = evaluate;
    part->first_command = part->last_command = command;
    plan.buffers.push_back(std::move(part));
    return plan.buffers.size() - 1;
  }

  void keepGradient(GradientOp gradient, const PlannedFunction &planned) {
    for (auto &variable : plan.variables)
      if (variable->name == gradient.getParameter())
        variable->gradient_buffer = static_cast<int>(bufferOf(gradient.getGradient(), planned));
  }

  // Lives are counted in ops until now; a plan counts commands. An op without commands lives at the
  // one that follows it.
  void setLives(const PlannedFunction &planned, bool evaluate, int commands) {
    auto visit = [&](unsigned index) {
      const PlannedBuffer &planned = memory.buffers[index];
      if (planned.last == INT32_MAX)
        return;
      int end = static_cast<int>(commandsOf.size());
      plan::BufferT &buffer = *plan.buffers[index];
      buffer.evaluate = evaluate;
      buffer.first_command = std::min(commandsOf[planned.first].first, commands - 1);
      buffer.last_command = planned.last >= end
                                ? commands - 1
                                : std::max(buffer.first_command, commandsOf[planned.last].second);
    };
    for (auto &[value, index] : planned.buffers)
      visit(index);
    for (auto &[op, index] : planned.workspaces)
      visit(index);
  }

  void spanPersistentBuffers() {
    int commands = static_cast<int>(plan.micro_batch->commands.size() +
                                    (plan.step ? plan.step->commands.size() : 0));
    for (auto [planned, buffer] : llvm::zip(memory.buffers, plan.buffers))
      if (planned.last == INT32_MAX)
        buffer->last_command = commands - 1;
  }

  // Of other outputs gc-check-model has said that nobody reads them.
  LogicalResult addMetrics(const PlannedFunction &planned, bool evaluate) {
    func::FuncOp function = planned.function;
    Operation *terminator = function.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      auto name = function.getResultAttrOfType<StringAttr>(i, kOutputAttr);
      if (!name || (name.getValue() != kLossOutput && name.getValue() != kCorrectOutput))
        continue;
      FailureOr<BatchReduction> reduction = reductionOf(name, value);
      if (failed(reduction))
        return failure();
      auto metric = std::make_unique<plan::MetricT>();
      metric->name = name.str();
      metric->buffer = bufferOf(value, planned);
      metric->reduction =
          *reduction == BatchReduction::Sum ? plan::Reduction_Sum : plan::Reduction_Mean;
      metric->evaluate = evaluate;
      plan.metrics.push_back(std::move(metric));
    }
    function.walk([&](CrossEntropyOp loss) {
      plan.classes = cast<ShapedType>(loss.getLogits().getType()).getDimSize(1);
    });
    return success();
  }

  // What the loss of a classifier reads, where it is still there when the list ends: the metrics
  // come last and read it too, so it is unless a model computes more after them.
  void addOutputs(const PlannedFunction &planned, int commands) {
    func::FuncOp function = planned.function;
    auto losses = function.getOps<CrossEntropyOp>();
    if (losses.empty() || std::next(losses.begin()) != losses.end())
      return;
    unsigned index = bufferOf((*losses.begin()).getLogits(), planned);
    const plan::BufferT &logits = *plan.buffers[index];
    if (logits.last_command != commands - 1 || logits.shape.size() != 2 || !logits.evaluate)
      return;
    auto output = std::make_unique<plan::OutputT>();
    output->name = runtime::kLogitsOutput;
    output->buffer = index;
    plan.outputs.push_back(std::move(output));
  }

  void addMemory() {
    plan.arena_bytes = memory.arenaBytes;
    plan.memory = std::make_unique<plan::MemoryT>(memoryAtPeak(plan, memory.lowerBound));
    report["arena_bytes"] = memory.arenaBytes;
    report["lower_bound_bytes"] = memory.lowerBound;
    report["packing_optimal"] = memory.optimal;
  }

  // The search took every update for a command of its own.
  void reportJoined() {
    if (joinedUpdates.commands == 0)
      return;
    report["joined_updates"] = {{"updates", joinedUpdates.updates},
                                {"commands", joinedUpdates.commands},
                                {"seconds_saved_predicted", joinedUpdates.secondsSaved}};
    report["step_seconds_predicted"] =
        report["step_seconds_predicted"].get<double>() - joinedUpdates.secondsSaved;
    report["prediction"]["step_seconds"] = report["step_seconds_predicted"];
  }

  ModuleOp module;
  SymbolTable symbols;
  bool lean;
  const MemoryPlan &memory;
  const CompileOptions &options;
  Target &target;
  nlohmann::json &report;
  plan::PlanT plan;
  llvm::StringMap<unsigned> variableNumbers;
  llvm::DenseMap<Value, unsigned> views; // of a part of another value: their buffers
  struct {
    size_t updates = 0, commands = 0;
    double secondsSaved = 0; // of a step, as predicted
  } joinedUpdates;
  SmallVector<std::pair<int, int>> commandsOf; // of each op of the function being lowered
};

} // namespace

FailureOr<std::vector<uint8_t>> buildPlan(const StepCandidate &step, const MemoryPlan &memory,
                                          const CompileOptions &options, Target &target,
                                          nlohmann::json &report) {
  return Builder(step, memory, options, target, report).run();
}

FailureOr<double> secondsSavedByJoining(const StepCandidate &step, const MemoryPlan &memory,
                                        const CompileOptions &options, Target &target) {
  nlohmann::json unused;
  return Builder(step, memory, options, target, unused).secondsSavedByJoining();
}

} // namespace gc
