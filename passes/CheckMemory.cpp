//===- CheckMemory.cpp - proves a memory plan by replaying it -------------===//
//
//   %0 = gc.neg %x  {gc.offsets = [2048]}    bytes 2048.. hold %0
//   %1 = gc.exp %x  {gc.offsets = [2048]}    bytes 2048.. hold %1 now
//   %2 = gc.add %0, %1 {gc.offsets = ...}    error: operand #0 is 'neg', but its bytes hold 'exp'
//
// The IR does not change. Every write gives its bytes a new content; a value is the content that
// its op wrote, so that a later use can tell whether it is still there. An update writes its
// variable anew, which makes older gc.read values stale in the same way.
//
//===----------------------------------------------------------------------===//
#include "passes/CheckMemory.h"
#include "dialects/OpName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"
#include "passes/algorithms/packing/ByteMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mlir;

namespace gc {

static Diagnostic &operator<<(Diagnostic &out, const ByteRange &range) {
  return out << "[" << range.begin << ", " << range.end << ")";
}

namespace {

/// What one write left in the arena: a value, a variable's new contents, an input.
struct Content {
  std::string name;
  Location location; // of the op that wrote it, or of what declared it
  ByteRange range;
  bool isPersistent = false; // only an update of its variable may write there
};

// Every buffer starts at a multiple of this: kernels and libraries rely on it.
constexpr int64_t alignment = 64;

class Replayer {
public:
  explicit Replayer(ModuleOp module) : module(module) {}

  FailureOr<MemoryReplay> run() {
    auto bytes = module->getAttrOfType<IntegerAttr>("gc.arena_bytes");
    if (!bytes) {
      module.emitError("has no gc.arena_bytes; run gc-plan-memory first");
      return failure();
    }
    arenaBytes = bytes.getInt();
    if (failed(placePersistent()))
      return failure();
    // The order in which a session runs them. A second micro-batch finds what the first one found:
    // variables and inputs, which nothing but an update may touch.
    bool any = false;
    for (StringRef list : {"micro_batch", "step", "evaluate"})
      for (auto function : module.getOps<func::FuncOp>()) {
        auto its = function->getAttrOfType<StringAttr>("gc.list");
        if (!its || its.getValue() != list)
          continue;
        any = true;
        // Gradients are dumped when the step is done; inference comes at any time after.
        if (list == "evaluate")
          kept.clear();
        if (failed(replay(function)))
          return failure();
      }
    if (!any) {
      module.emitError("no function has a gc.list attribute; run gc-autodiff first");
      return failure();
    }
    return statistics;
  }

private:
  //===--------------------------------------------------------------------===//
  // What is there before anything runs
  //===--------------------------------------------------------------------===//

  LogicalResult placePersistent() {
    for (Operation &op : *module.getBody()) {
      Type type;
      if (auto parameter = dyn_cast<ParameterOp>(op))
        type = parameter.getType();
      else if (auto state = dyn_cast<StateOp>(op))
        type = state.getType();
      else
        continue;
      auto offset = op.getAttrOfType<IntegerAttr>("gc.offset");
      if (!offset)
        return op.emitOpError("has no gc.offset; run gc-plan-memory first");
      StringRef name = SymbolTable::getSymbolName(&op).getValue();
      Content content{("variable '" + name + "'").str(),
                      op.getLoc(),
                      {offset.getInt(), offset.getInt() + byteSize(type)},
                      true};
      FailureOr<int> placed = placeOne(&op, std::move(content));
      if (failed(placed))
        return failure();
      variables[name] = *placed;
    }
    return success();
  }

  FailureOr<int> placeOne(Operation *op, Content content) {
    if (failed(checkPlace(op, content.name, content.range)))
      return failure();
    auto taken = arena.find(content.range, [](int) { return true; });
    if (taken) {
      InFlightDiagnostic error = op->emitOpError() << content.name << " at bytes " << content.range
                                                   << " overlaps " << contents[taken->content].name;
      error.attachNote(contents[taken->content].location)
          << "which is at bytes " << contents[taken->content].range;
      return failure();
    }
    return write(std::move(content));
  }

  // Functions share the slots of an input, which is known by its name. The loader fills one slot
  // while another is read, so all of them must stay as they are.
  LogicalResult placeInputs(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto named = function.getArgAttrOfType<StringAttr>(number, "gc.input");
      std::string name = named ? named.str() : "input" + std::to_string(number);
      auto offsets = function.getArgAttrOfType<DenseI64ArrayAttr>(number, "gc.offsets");
      if (!offsets || offsets.empty())
        return function.emitOpError()
               << "input '" << name << "' has no gc.offsets; run gc-plan-memory first";
      SmallVector<int> &slots = inputs[name];
      bool isNew = slots.empty();
      for (auto [i, offset] : llvm::enumerate(offsets.asArrayRef())) {
        ByteRange range{offset, offset + byteSize(argument.getType())};
        if (isNew) {
          FailureOr<int> slot =
              placeOne(function, {"input '" + name + "' slot " + std::to_string(i),
                                  argument.getLoc(), range, true});
          if (failed(slot))
            return failure();
          slots.push_back(*slot);
        } else if (i >= slots.size() || slots.size() != static_cast<size_t>(offsets.size()) ||
                   !(contents[slots[i]].range == range)) {
          return function.emitOpError()
                 << "input '" << name << "' has other slots than in the function before";
        }
      }
      values[argument] = slots;
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // One op after the other
  //===--------------------------------------------------------------------===//

  LogicalResult replay(func::FuncOp function) {
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError("has more than one block; only straight code can be replayed");
    if (failed(placeInputs(function)))
      return failure();
    for (Operation &op : function.getBody().front()) {
      ++statistics.ops;
      if (failed(replay(&op)))
        return failure();
    }
    for (auto [gradient, content] : kept)
      if (failed(checkIntact(gradient, content, "the kept gradient")))
        return failure();
    return success();
  }

  LogicalResult replay(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto variable = variables.find(read.getVariable());
      if (variable == variables.end())
        return op->emitOpError() << "reads '" << read.getVariable() << "', which has no place";
      values[read.getValue()] = {variable->second};
      return success();
    }
    if (auto inPlace = dyn_cast<InPlaceOpInterface>(op); inPlace && inPlace.isView())
      return replayView(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (int content : values.lookup(operand))
        if (failed(checkIntact(op, content, "operand #" + std::to_string(i))))
          return failure();
    if (auto gradient = dyn_cast<GradientOp>(op)) {
      for (int content : values.lookup(gradient.getGradient()))
        kept.push_back({op, content});
      return success();
    }
    SmallVector<Content> written;
    if (failed(findPlaces(op, written)))
      return failure();
    for (auto [i, content] : llvm::enumerate(written)) {
      int index = write(std::move(content));
      if (i < op->getNumResults())
        values[op->getResult(i)] = {index};
    }
    return updateVariables(op);
  }

  // A view is bytes of its operand under another name: they are read only where the view is used,
  // and then all of the operand's must still be there.
  LogicalResult replayView(Operation *op) {
    Value operand = op->getOperand(0), result = op->getResult(0);
    SmallVector<int> source = values.lookup(operand);
    auto offsets = op->getAttrOfType<DenseI64ArrayAttr>("gc.offsets");
    auto view = viewed.find(operand);
    ByteRange whole = view == viewed.end() ? contents[source.front()].range : view->second;
    int64_t begin = whole.begin + cast<InPlaceOpInterface>(op).getViewOffset();
    ByteRange range{begin, begin + byteSize(result.getType())};
    if (!offsets || offsets.size() != 1 || offsets[0] != begin || begin < whole.begin ||
        range.end > whole.end)
      return op->emitOpError() << "is a view but does not lie at the bytes " << range
                               << " of its operand";
    viewed[result] = range;
    values[result] = source;
    return success();
  }

  // Places the results and then the workspace; checks that they meet neither operands of the op,
  // nor each other, nor anything that is never overwritten.
  LogicalResult findPlaces(Operation *op, SmallVectorImpl<Content> &written) {
    std::string name = displayName(op);
    auto offsets = op->getAttrOfType<DenseI64ArrayAttr>("gc.offsets");
    if (op->getNumResults() > 0 && (!offsets || offsets.size() != op->getNumResults()))
      return op->emitOpError() << "expected gc.offsets of " << op->getNumResults()
                               << " results; run gc-plan-memory first";
    for (OpResult result : op->getResults()) {
      unsigned number = result.getResultNumber();
      ByteRange range{offsets[number], offsets[number] + byteSize(result.getType())};
      std::string what = "result #" + std::to_string(number);
      if (failed(checkPlace(op, what, range)) || failed(checkUnprotected(op, what, range)) ||
          failed(checkInPlace(op, number, range)) || failed(checkApart(op, what, range, written)))
        return failure();
      written.push_back({"'" + name + "'" + (number ? " " + what : ""), op->getLoc(), range});
    }
    auto cost = dyn_cast<CostOpInterface>(op);
    int64_t bytes = cost ? cost.getWorkspaceBytes() : 0;
    if (bytes == 0)
      return success();
    auto offset = op->getAttrOfType<IntegerAttr>("gc.workspace_offset");
    if (!offset)
      return op->emitOpError() << "has no gc.workspace_offset for its workspace of " << bytes
                               << " bytes";
    ByteRange range{offset.getInt(), offset.getInt() + bytes};
    if (failed(checkPlace(op, "workspace", range)) ||
        failed(checkUnprotected(op, "workspace", range)) ||
        failed(checkApart(op, "workspace", range, written)))
      return failure();
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (int content : values.lookup(operand))
        if (contents[content].range.meets(range))
          return op->emitOpError() << "workspace at bytes " << range << " overlaps operand #" << i
                                   << " at bytes " << contents[content].range;
    written.push_back({"the workspace of '" + name + "'", op->getLoc(), range});
    return success();
  }

  LogicalResult updateVariables(Operation *op) {
    for (StringRef name : variablesChanged(op)) {
      auto variable = variables.find(name);
      if (variable == variables.end())
        return op->emitOpError() << "changes '" << name << "', which has no place";
      if (failed(checkIntact(op, variable->second, contents[variable->second].name)))
        return failure();
      Content changed = contents[variable->second];
      changed.location = op->getLoc();
      variable->second = write(std::move(changed));
    }
    return success();
  }

  // Ops say by their effects that they write, and by their symbols what: every variable that such
  // an op names counts as changed.
  SmallVector<StringRef> variablesChanged(Operation *op) {
    SmallVector<StringRef> names;
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects || !effects.hasEffect<MemoryEffects::Write>())
      return names;
    op->getAttrDictionary().walk(
        [&](FlatSymbolRefAttr symbol) { names.push_back(symbol.getValue()); });
    return names;
  }

  //===--------------------------------------------------------------------===//
  // Rules
  //===--------------------------------------------------------------------===//

  LogicalResult checkPlace(Operation *op, StringRef what, ByteRange range) {
    if (range.begin < 0 || range.end > arenaBytes)
      return op->emitOpError() << what << " at bytes " << range << " lies outside of the arena of "
                               << arenaBytes << " bytes";
    if (range.begin % alignment != 0)
      return op->emitOpError() << what << " at bytes " << range << " is not aligned to "
                               << alignment << " bytes";
    statistics.usedBytes = std::max(statistics.usedBytes, range.end);
    return success();
  }

  LogicalResult checkUnprotected(Operation *op, StringRef what, ByteRange range) {
    auto taken = arena.find(range, [&](int content) { return contents[content].isPersistent; });
    if (!taken)
      return success();
    const Content &owner = contents[taken->content];
    InFlightDiagnostic error = op->emitOpError()
                               << what << " at bytes " << range << " overwrites " << owner.name;
    error.attachNote(owner.location) << "which is at bytes " << owner.range;
    return error;
  }

  // A result may lie on an operand only where the op says so, and then on all of it.
  LogicalResult checkInPlace(Operation *op, unsigned result, ByteRange range) {
    auto inPlace = dyn_cast<InPlaceOpInterface>(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (int content : values.lookup(operand)) {
        const Content &read = contents[content];
        if (!read.range.meets(range))
          continue;
        if (!(read.range == range))
          return op->emitOpError()
                 << "result #" << result << " at bytes " << range << " overlaps a part of operand #"
                 << i << " at bytes " << read.range;
        if (!inPlace || !inPlace.canWriteOver(i, result))
          return op->emitOpError()
                 << "result #" << result << " at bytes " << range
                 << " may not be written over operand #" << i << ", which the op still reads";
      }
    return success();
  }

  LogicalResult checkApart(Operation *op, StringRef what, ByteRange range,
                           ArrayRef<Content> others) {
    for (auto [i, other] : llvm::enumerate(others))
      if (other.range.meets(range))
        return op->emitOpError() << what << " at bytes " << range << " overlaps result #" << i
                                 << " at bytes " << other.range;
    return success();
  }

  LogicalResult checkIntact(Operation *op, int content, const Twine &what) {
    const Content &wanted = contents[content];
    ++statistics.reads;
    auto other = arena.findUnless(wanted.range, [&](int held) { return held == content; });
    if (!other)
      return success();
    InFlightDiagnostic error = op->emitOpError() << what << " is " << wanted.name << " at bytes "
                                                 << wanted.range << ", but bytes " << other->range;
    if (other->content < 0) {
      error << " were never written";
      return error;
    }
    const Content &there = contents[other->content];
    if (there.name == wanted.name && there.isPersistent)
      error << " have been updated since";
    else
      error << " hold " << there.name;
    error.attachNote(there.location) << "overwritten here, bytes " << there.range;
    return error;
  }

  int write(Content content) {
    ++statistics.writes;
    contents.push_back(std::move(content));
    int index = static_cast<int>(contents.size() - 1);
    arena.write(contents.back().range, index);
    return index;
  }

  ModuleOp module;
  int64_t arenaBytes = 0;
  ByteMap arena;
  std::vector<Content> contents;
  // For each value, what it is in the arena; an input has one entry for each of its slots.
  llvm::DenseMap<Value, SmallVector<int>> values;
  llvm::DenseMap<Value, ByteRange> viewed; // for each view, the bytes that it shows
  llvm::StringMap<int> variables;          // for each variable, the content that it holds now
  std::map<std::string, SmallVector<int>> inputs;
  std::vector<std::pair<Operation *, int>> kept; // gradients that must last to the end of the step
  MemoryReplay statistics;
};

} // namespace

FailureOr<MemoryReplay> checkMemory(ModuleOp module) { return Replayer(module).run(); }

#define GEN_PASS_DEF_CHECKMEMORYPASS
#include "passes/Passes.h.inc"

namespace {
struct CheckMemoryPass : impl::CheckMemoryPassBase<CheckMemoryPass> {
  void runOnOperation() override {
    if (failed(checkMemory(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace gc
