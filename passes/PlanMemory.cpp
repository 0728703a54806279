//===- PlanMemory.cpp - every byte in one arena ---------------------------===//
//
//   gc.parameter @w : tensor<16x16xf32>           gc.parameter @w {gc.offset = 0} ...
//   func.func @train(%x: tensor<8x16xf32>)        func.func @train(%x {gc.offsets = [1024, 1536]})
//     %0 = gc.linear %x, %w                  =>     %0 = gc.linear %x, %w {gc.offsets = [2048]}
//     %1 = gc.relu %0                               %1 = gc.relu %0 {gc.offsets = [2048]}
//
// Persistent bytes (variables, input slots, what the target reserves) lie at the bottom; everything
// else is packed above by its life. %1 is written over %0, which dies there.
//
//===----------------------------------------------------------------------===//
#include "passes/PlanMemory.h"
#include "dialects/OpName.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/OpCosts.h"

using namespace mlir;

namespace gc {

static_assert(storageAlignment == kBufferAlignment);

namespace {
class Planner {
public:
  Planner(ModuleOp module, const PlanMemoryOptions &options) : module(module), options(options) {}

  int64_t persistentOnly() {
    placePersistent();
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr("gc.list"))
        for (BlockArgument argument : function.getArguments())
          inputBuffer(function, argument);
    return top;
  }

  FailureOr<MemoryPlan> run() {
    placePersistent();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(collect(function)))
        return failure();
    if (plan.functions.empty()) {
      module.emitError("no function has a gc.list attribute; run gc-autodiff first");
      return failure();
    }
    plan.persistentBytes = top;
    plan.arenaBytes = plan.lowerBound = top;
    plan.optimal = true;
    for (auto &[planned, liveness] : analysed)
      if (failed(pack(planned, liveness)))
        return failure();
    return std::move(plan);
  }

private:
  void placePersistent() {
    placeVariables();
    if (options.reserve > 0)
      plan.reserved = static_cast<int>(
          persistent({"library-transients", StorageKind::Workspace, Type(), options.reserve}));
  }

  unsigned persistent(PlannedBuffer buffer) {
    buffer.offset = top;
    buffer.last = INT32_MAX;
    top += alignedBytes(buffer.bytes);
    plan.buffers.push_back(std::move(buffer));
    return plan.buffers.size() - 1;
  }

  void placeVariables() {
    auto place = [&](StringRef name, Type type) {
      plan.variables[name] = persistent({name.str(), StorageKind::Variable, type, byteSize(type)});
    };
    for (Operation &op : *module.getBody()) {
      if (auto parameter = dyn_cast<ParameterOp>(op))
        place(parameter.getSymName(), parameter.getType());
      else if (auto state = dyn_cast<StateOp>(op))
        place(state.getSymName(), state.getType());
    }
  }

  // All functions read the same slots; an input is known by its name.
  unsigned inputBuffer(func::FuncOp function, BlockArgument argument) {
    auto attribute = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "gc.input");
    std::string name =
        attribute ? attribute.str() : "input" + std::to_string(argument.getArgNumber());
    for (auto &[known, slots] : plan.inputs)
      if (known == name)
        return slots.front();
    SmallVector<unsigned> slots;
    for (int i = 0; i < options.inputSlots; ++i)
      slots.push_back(
          persistent({name, StorageKind::Input, argument.getType(), byteSize(argument.getType())}));
    plan.inputs.push_back({name, slots});
    return slots.front();
  }

  LogicalResult collect(func::FuncOp function) {
    auto list = function->getAttrOfType<StringAttr>("gc.list");
    if (!list)
      return success();
    if (!llvm::is_contained(commandLists, list.getValue()))
      return function.emitError() << "unknown command list '" << list.getValue() << "'";
    if (failed(checkUpdates(function)))
      return failure();
    PlannedFunction planned{function, list.str()};
    for (BlockArgument argument : function.getArguments())
      planned.buffers[argument] = inputBuffer(function, argument);
    analysed.emplace_back(std::move(planned), Liveness(function));
    plan.functions.push_back({function, list.str()});
    return success();
  }

  // A gc.read result is the variable itself: it must not be used after the variable has changed.
  LogicalResult checkUpdates(func::FuncOp function) {
    llvm::DenseMap<StringRef, Operation *> changed;
    for (Operation &op : function.getBody().front()) {
      for (Value operand : op.getOperands()) {
        auto read = gc::storageOf(operand).getDefiningOp<ReadOp>();
        Operation *writer = read ? changed.lookup(read.getVariable()) : nullptr;
        if (writer && read->isBeforeInBlock(writer)) {
          auto error = op.emitOpError() << "uses '" << read.getVariable()
                                        << "' after it was changed; move the update down";
          error.attachNote(writer->getLoc()) << "changed here";
          return error;
        }
      }
      for (FlatSymbolRefAttr variable : variablesWritten(&op))
        changed[variable.getValue()] = &op;
    }
    return success();
  }

  LogicalResult pack(PlannedFunction &planned, Liveness &liveness) {
    const PackingResult &packed = options.packer->pack(liveness.lives());
    if (!packed.error.empty())
      return planned.function.emitError() << "cannot be placed: " << packed.error;
    llvm::DenseMap<unsigned, unsigned> bufferOf;
    for (auto [i, storage] : llvm::enumerate(liveness.persistent()))
      bufferOf[i] = storage.kind == StorageKind::Variable
                        ? plan.variables.lookup(storage.variable.getValue())
                        : planned.buffers.lookup(storage.value);
    for (auto [i, storage] : llvm::enumerate(liveness.transient())) {
      PlannedBuffer buffer;
      buffer.name = displayName(storage.op);
      buffer.kind = storage.kind;
      buffer.type = storage.value ? storage.value.getType() : Type();
      buffer.bytes = storage.bytes;
      buffer.offset = plan.persistentBytes + static_cast<int64_t>(packed.offsets[i]);
      buffer.first = storage.first;
      buffer.last = storage.last;
      bufferOf[liveness.persistent().size() + i] = plan.buffers.size();
      plan.buffers.push_back(std::move(buffer));
    }
    plan.arenaBytes =
        std::max(plan.arenaBytes, plan.persistentBytes + static_cast<int64_t>(packed.bytes));
    plan.lowerBound =
        std::max(plan.lowerBound, plan.persistentBytes + static_cast<int64_t>(packed.lowerBound));
    plan.optimal &= packed.optimal;

    auto result = llvm::find_if(plan.functions,
                                [&](auto &entry) { return entry.function == planned.function; });
    result->buffers = planned.buffers;
    for (Operation *op : liveness.ops()) {
      for (Value value : op->getResults())
        result->buffers[value] = bufferOf.lookup(liveness.storageOf(value));
      if (int workspace = liveness.workspaceOf(op); workspace >= 0)
        result->workspaces[op] = bufferOf.lookup(workspace);
    }
    return success();
  }

  ModuleOp module;
  const PlanMemoryOptions &options;
  MemoryPlan plan;
  std::vector<std::pair<PlannedFunction, Liveness>> analysed;
  int64_t top = 0;
};
} // namespace

FailureOr<MemoryPlan> planMemory(ModuleOp module, const PlanMemoryOptions &options) {
  return Planner(module, options).run();
}

int64_t persistentBytes(ModuleOp module, const PlanMemoryOptions &options) {
  return Planner(module, options).persistentOnly();
}

void annotate(ModuleOp module, const MemoryPlan &plan) {
  Builder b(module.getContext());
  auto offset = [&](unsigned buffer) { return plan.buffers[buffer].offset; };
  for (Operation &op : *module.getBody())
    if (isa<ParameterOp, StateOp>(op))
      op.setAttr("gc.offset",
                 b.getI64IntegerAttr(offset(plan.variables.lookup(
                     op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()).getValue()))));
  for (const PlannedFunction &planned : plan.functions) {
    func::FuncOp function = planned.function;
    for (BlockArgument argument : function.getArguments()) {
      unsigned first = planned.buffers.lookup(argument);
      SmallVector<int64_t> slots;
      for (auto &[name, buffers] : plan.inputs)
        if (buffers.front() == first)
          for (unsigned buffer : buffers)
            slots.push_back(offset(buffer));
      function.setArgAttr(argument.getArgNumber(), "gc.offsets", b.getDenseI64ArrayAttr(slots));
    }
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (op.getNumResults() > 0 && !isa<ReadOp>(op)) {
        SmallVector<int64_t> offsets;
        for (Value result : op.getResults())
          offsets.push_back(offset(planned.buffers.lookup(result)) + offsetInStorage(result));
        op.setAttr("gc.offsets", b.getDenseI64ArrayAttr(offsets));
      }
      if (auto it = planned.workspaces.find(&op); it != planned.workspaces.end())
        op.setAttr("gc.workspace_offset", b.getI64IntegerAttr(offset(it->second)));
    }
  }
  module->setAttr("gc.arena_bytes", b.getI64IntegerAttr(plan.arenaBytes));
  module->setAttr("gc.lower_bound_bytes", b.getI64IntegerAttr(plan.lowerBound));
}

#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"

namespace {
struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;
  void runOnOperation() override {
    if (failed(requireCosts(getOperation())))
      return signalPassFailure();
    PlanMemoryOptions options;
    options.reserve = reserve;
    options.inputSlots = inputSlots;
    FailureOr<MemoryPlan> plan = planMemory(getOperation(), options);
    if (failed(plan))
      return signalPassFailure();
    annotate(getOperation(), *plan);
  }
};
} // namespace
} // namespace gc
