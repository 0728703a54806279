//===- BatchSplit.cpp - a function for another batch ----------------------===//
//
//   func.func @f(%x: tensor<8x4xf32>)                  func.func @f(%x: tensor<2x4xf32>)
//     %0 = gc.linear %x, %w -> tensor<8x3xf32>    =>     %0 = gc.linear %x, %w -> tensor<2x3xf32>
//
// Types flow from the arguments through the ops: most infer their results. Of those that state
// them, a reshape keeps its elements, and a broadcast of the backward pass follows the reduction
// that it is the adjoint of. Other broadcasts, which make a dimension of nothing, and adjoints
// whose first dimension may or may not be the batch's (a filter as long as the batch) are choices.
// A choice is changed where an op that depends on it does not verify, and it is an error when the
// function verifies either way.
//
//===----------------------------------------------------------------------===//
#include "passes/BatchSplit.h"
#include "dialects/Gc.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/ModelFunction.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace gc {

namespace {

RankedTensorType tensorOf(Type type) { return cast<RankedTensorType>(type); }

/// The option taken of each op, by its position, that has a choice; 0 where there is no entry.
using Options = llvm::DenseMap<unsigned, unsigned>;

/// An op that has several options.
struct Choice {
  unsigned position, options;
};

/// From how many samples to how many.
struct Resize {
  int64_t from, to;
  std::string wish; // how messages go on behind "cannot"

  static Resize part(int64_t batch, int64_t parts) {
    return {batch, batch / parts, "run on a part of the batch"};
  }
  static Resize whole(int64_t batch, int64_t size) {
    return {batch, size, "run on a batch of " + std::to_string(size)};
  }
  bool divides(int64_t dimension) const { return dimension % from == 0; }
  int64_t operator()(int64_t dimension) const { return dimension / from * to; }
};

class Resizer {
public:
  Resizer(func::FuncOp function, const Resize &resize, const Options &options)
      : function(function), resize(resize), options(options) {}

  LogicalResult run() {
    Block &block = function.getBody().front();
    for (BlockArgument argument : block.getArguments())
      if (tensorOf(argument.getType()).getRank() > 0) // what is left is one number for a batch
        change(argument, scaled(argument.getType(), 0));
    for (auto seed : function.getOps<GradientSeedOp>())
      getForwardSlice(seed.getGradient(), &backward);
    for (Operation &op : block.without_terminator()) {
      if (failed(follow(&op))) {
        failedAt = position;
        return failure();
      }
      ++position;
    }
    function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(),
                                       block.getTerminator()->getOperandTypes()));
    return success();
  }

  SmallVector<Choice> choices;
  SmallVector<Operation *> mixing;
  unsigned failedAt = 0;

private:
  RankedTensorType before(Value value) const {
    auto it = old.find(value);
    return it == old.end() ? tensorOf(value.getType()) : it->second;
  }
  bool isChanged(Value value) const { return old.contains(value); }
  bool isBatch(Value value, int64_t dimension) const {
    return before(value).getDimSize(dimension) != tensorOf(value.getType()).getDimSize(dimension);
  }
  RankedTensorType scaled(Type type, int64_t dimension) const {
    SmallVector<int64_t> shape(tensorOf(type).getShape());
    shape[dimension] = resize(shape[dimension]);
    return tensorOf(type).clone(shape);
  }
  void change(Value value, Type type) {
    if (value.getType() == type)
      return;
    old.try_emplace(value, tensorOf(value.getType()));
    value.setType(tensorOf(type));
  }
  static bool verifies(Operation *op) {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    return succeeded(op->getName().verifyInvariants(op));
  }

  LogicalResult follow(Operation *op) {
    if (auto stats = dyn_cast<RunningStatsOp>(op))
      return resizeCount(stats);
    bool changed = llvm::any_of(op->getOperands(), [&](Value v) { return isChanged(v); });
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      if (failed(resizeBroadcast(broadcast)))
        return failure();
    } else if (!changed) {
      return noteUse(op);
    } else if (!isMemoryEffectFree(op)) {
      return op->emitOpError("changes a variable by a value that depends on the batch's size: ")
             << op->getOperand(0).getType() << ", so it cannot " << resize.wish;
    } else if (isa<SliceOp, PadOp>(op) &&
               isBatch(op->getOperand(0), op->getAttrOfType<IntegerAttr>("axis").getInt())) {
      return op->emitOpError("works on single samples of the batch and cannot ") << resize.wish;
    } else if (auto infer = dyn_cast<InferTypeOpInterface>(op)) {
      SmallVector<Type> types;
      if (failed(infer.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                        op->getDiscardableAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
        return op->emitOpError("cannot ") << resize.wish;
      for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
        change(result, type);
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      if (failed(resizeReshape(reshape)))
        return failure();
    } else if (failed(resizeStated(op))) {
      return failure();
    }
    for (Value result : op->getResults()) {
      RankedTensorType was = before(result), is = tensorOf(result.getType());
      for (auto [a, b] : llvm::zip_equal(was.getShape(), is.getShape()))
        if (a != b && a * resize.to != b * resize.from)
          return op->emitOpError("joins samples of the batch with something that is none, and "
                                 "cannot ")
                 << resize.wish << ": " << was << " becomes " << is;
    }
    if (failed(noteUse(op)))
      return failure();
    return op->getName().verifyInvariants(op);
  }

  // Elements in a channel; the batch's mean and deviation tell whose.
  LogicalResult resizeCount(RunningStatsOp stats) {
    Operation *norm = stats.getMean().getDefiningOp();
    if (!norm || llvm::none_of(norm->getOperands(), [&](Value v) { return isChanged(v); }))
      return success();
    if (stats.getCount() % resize.from != 0)
      return stats.emitOpError("counts ") << stats.getCount() << " elements a channel, which is no "
                                          << "multiple of the batch of " << resize.from;
    if (resize(stats.getCount()) < 2)
      return stats.emitOpError("would count one element a channel, which has no variance, and "
                               "cannot ")
             << resize.wish;
    stats.setCount(resize(stats.getCount()));
    return success();
  }

  // What reductions of the forward pass, whose adjoint `op` may be, took in; null where there are
  // none or where they differ.
  RankedTensorType reducedType(BroadcastOp op) {
    RankedTensorType found;
    for (Operation &other : *op->getBlock()) {
      if (&other == op)
        break;
      auto reduced = other.getAttrOfType<DenseI64ArrayAttr>("dimensions");
      if (!isa<ReduceSumOp, ReduceMeanOp>(other) || backward.contains(&other) ||
          before(other.getOperand(0)) != before(op.getOutput()) ||
          before(other.getResult(0)).getShape() != before(op.getInput()).getShape() ||
          llvm::any_of(op.getDimensions(),
                       [&](int64_t d) { return llvm::is_contained(reduced.asArrayRef(), d); }))
        continue;
      auto type = tensorOf(other.getOperand(0).getType());
      if (found && found != type)
        return {};
      found = type;
    }
    return found;
  }

  // Dimensions that repeat come from nowhere: one of them, or none, is the batch's.
  LogicalResult resizeBroadcast(BroadcastOp op) {
    RankedTensorType input = before(op.getInput()), output = before(op.getOutput());
    SmallVector<int64_t> shape(output.getShape());
    llvm::SmallBitVector repeats(output.getRank(), true);
    for (auto [from, to] : llvm::enumerate(op.getDimensions()))
      if (input.getDimSize(from) == output.getDimSize(to)) {
        repeats.reset(to);
        shape[to] = tensorOf(op.getInput().getType()).getDimSize(from);
      }
    int64_t count = 1;
    SmallVector<unsigned> candidates;
    for (unsigned d : repeats.set_bits()) {
      count *= output.getDimSize(d);
      if (resize.divides(output.getDimSize(d)))
        candidates.push_back(d);
    }
    RankedTensorType reduced = backward.contains(op) ? reducedType(op) : RankedTensorType();
    if (reduced) {
      shape.assign(reduced.getShape().begin(), reduced.getShape().end());
    } else if (!candidates.empty()) {
      unsigned option = choose(candidates.size() + 1);
      if (option < candidates.size())
        shape[candidates[option]] = resize(shape[candidates[option]]);
    }
    if (llvm::any_of(repeats.set_bits(),
                     [&](unsigned d) { return shape[d] != output.getDimSize(d); }))
      adaptMean(op, count);
    change(op.getOutput(), output.clone(shape));
    return success();
  }

  // The adjoint of a mean over n elements is the gradient, scaled by 1 / n, repeated over them.
  void adaptMean(BroadcastOp op, int64_t count) {
    auto scale = op.getInput().getDefiningOp<ScaleOp>();
    if (scale && backward.contains(scale) &&
        scale.getFactor().convertToFloat() == static_cast<float>(1.0 / count))
      scale.setFactorAttr(
          Builder(op.getContext())
              .getF32FloatAttr(static_cast<float>(1.0 / static_cast<double>(resize(count)))));
  }

  // Walks both shapes in groups of dimensions with equal products. The batch must be the outermost
  // of its group, and whole samples must stay together.
  LogicalResult resizeReshape(ReshapeOp op) {
    ArrayRef<int64_t> input = before(op.getInput()).getShape();
    RankedTensorType output = before(op.getOutput());
    SmallVector<int64_t> shape(output.getShape());
    if (resize.from == 1)
      return resizeReshapeOfOne(op);
    size_t i = 0, o = 0;
    while (i < input.size() || o < shape.size()) {
      size_t firstIn = i, firstOut = o;
      int64_t in = 1, out = 1;
      do {
        if (in <= out && i < input.size())
          in *= input[i++];
        else if (o < shape.size())
          out *= shape[o++];
        else if (i < input.size())
          in *= input[i++];
        else
          break;
      } while (in != out || (i == firstIn && i < input.size()) ||
               (o == firstOut && o < shape.size()));
      auto isUnit = [](int64_t size) { return size == 1; };
      size_t outermost =
          std::find_if_not(input.begin() + firstIn, input.begin() + i, isUnit) - input.begin();
      for (size_t d = firstIn; d < i; ++d) {
        if (!isBatch(op.getInput(), d))
          continue;
        auto target = std::find_if_not(shape.begin() + firstOut, shape.begin() + o, isUnit);
        if (d != outermost || target == shape.begin() + o || !resize.divides(*target))
          return op.emitOpError("moves elements across the samples of a batch of ")
                 << resize.from << " and cannot " << resize.wish;
        *target = resize(*target);
      }
    }
    change(op.getOutput(), output.clone(shape));
    return success();
  }

  // A batch of one sample cannot be told from other dimensions of length 1, but what is outermost
  // stays so.
  LogicalResult resizeReshapeOfOne(ReshapeOp op) {
    RankedTensorType output = before(op.getOutput());
    for (int64_t d = 1; d < before(op.getInput()).getRank(); ++d)
      if (isBatch(op.getInput(), d))
        return op.emitOpError("gets its one sample along dimension ")
               << d << ", and nothing tells where it goes, so it cannot " << resize.wish
               << "; use a model with a batch of at least 2";
    if (output.getRank() == 0)
      return op.emitOpError("has no dimension for samples and cannot ") << resize.wish;
    change(op.getOutput(), scaled(output, 0));
    return success();
  }

  // Other ops that state their types are adjoints: a result's first dimension is the batch's where
  // an operand's is and the op then verifies.
  LogicalResult resizeStated(Operation *op) {
    SmallVector<Type> plain(op->getResultTypes()), resized(op->getResultTypes());
    for (Type &type : resized) {
      auto tensor = tensorOf(type);
      bool leads = tensor.getRank() > 0 && llvm::any_of(op->getOperands(), [&](Value operand) {
                     return isChanged(operand) && isBatch(operand, 0) &&
                            before(operand).getDimSize(0) == tensor.getDimSize(0);
                   });
      if (leads)
        type = scaled(type, 0);
    }
    auto use = [&](ArrayRef<Type> types) {
      for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
        result.setType(tensorOf(type));
      return verifies(op);
    };
    bool plainVerifies = use(plain), resizedVerifies = resized != plain && use(resized);
    use(plain);
    if (!plainVerifies && !resizedVerifies)
      return op->emitOpError("cannot ") << resize.wish << ": its result types do not follow";
    if (resizedVerifies && (!plainVerifies || choose(2) == 0))
      for (auto [result, type] : llvm::zip_equal(op->getResults(), resized))
        change(result, type);
    return success();
  }

  // A product of a mean by what is none and has no samples is linear in it.
  bool isShareOfMean(Operation *op) const {
    return isa<MulOp>(op) && llvm::count_if(op->getOperands(), [&](Value v) {
                               return means.contains(v) || isChanged(v);
                             }) == 1;
  }

  unsigned choose(size_t count) {
    choices.push_back({position, static_cast<unsigned>(count)});
    return options.lookup(position);
  }

  // Notes ops of the forward pass that mix samples. The mean over the batch of a mean over parts is
  // the mean over all, and so is what is linear in it; anything else is not.
  LogicalResult noteUse(Operation *op) {
    if (backward.contains(op))
      return success();
    auto samples = dyn_cast<BatchOpInterface>(op);
    if (!samples)
      return op->emitError("'") << op->getName() << "' does not say what it does to the samples of "
                                << "a batch (BatchOpInterface), so the model cannot "
                                << resize.wish;
    if (llvm::any_of(op->getOperands(), [&](Value v) { return means.contains(v); })) {
      if (op->hasTrait<KeepsMeans>() || isShareOfMean(op))
        means.insert(op->result_begin(), op->result_end());
      else
        mixing.push_back(op);
      return success();
    }
    Mixing mixes = samples.getMixing([&](unsigned operand, int64_t dimension) {
      Value value = op->getOperand(operand);
      return isChanged(value) && isBatch(value, dimension);
    });
    bool takesBatch = llvm::any_of(op->getOperands(), [&](Value v) { return isChanged(v); });
    for (Value result : op->getResults())
      if (takesBatch && !isChanged(result)) {
        if (mixes == Mixing::Mean)
          means.insert(result);
        else
          mixes = Mixing::Mixed; // no sample has a place of its own in the result
      }
    if (mixes == Mixing::Mixed)
      mixing.push_back(op);
    return success();
  }

  func::FuncOp function;
  const Resize &resize;
  const Options &options;
  unsigned position = 0;
  llvm::DenseMap<Value, RankedTensorType> old; // of the values that changed
  llvm::SetVector<Operation *> backward;       // what depends on the gradient's seed
  llvm::DenseSet<Value> means;                 // over the batch
};

// A trial run on a clone: whether it succeeds, where it fails, which choices it met.
struct Trial {
  bool fits = false;
  unsigned failedAt = 0;
  SmallVector<Choice> choices;
};
Trial attempt(func::FuncOp function, const Resize &resize, const Options &options) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<func::FuncOp> clone = function.clone();
  Resizer resizer(*clone, resize, options);
  Trial trial;
  trial.fits = succeeded(resizer.run());
  trial.failedAt = resizer.failedAt;
  trial.choices = resizer.choices;
  return trial;
}

// Rewrites `function`, with the options that make it verify.
LogicalResult resizeBatch(func::FuncOp function, const Resize &resize,
                          SmallVectorImpl<Operation *> &mixing) {
  Options options;
  Trial trial = attempt(function, resize, options);
  // Calls `visit` with each other option of each choice, until it returns true.
  auto others = [&](auto visit) {
    for (Choice choice : SmallVector<Choice>(trial.choices))
      for (unsigned option = 0; option < choice.options; ++option) {
        if (option == options.lookup(choice.position))
          continue;
        Options changed = options;
        changed[choice.position] = option;
        if (visit(choice, changed, attempt(function, resize, changed)))
          return true;
      }
    return false;
  };
  // The option that leads furthest is right.
  for (bool better = true; better && !trial.fits;) {
    Options best = options;
    Trial furthest = trial;
    others([&](Choice, const Options &changed, const Trial &next) {
      if (next.fits || next.failedAt > furthest.failedAt) {
        best = changed;
        furthest = next;
      }
      return next.fits;
    });
    better = furthest.fits || furthest.failedAt > trial.failedAt;
    options = best;
    trial = furthest;
  }
  unsigned unclear = 0;
  if (trial.fits && others([&](Choice choice, const Options &, const Trial &next) {
        unclear = choice.position;
        return next.fits;
      }))
    return std::next(function.getBody().front().begin(), unclear)
               ->emitOpError("makes a dimension as long as the batch of ")
           << resize.from << ", and nothing tells whether it is the batch; use another batch";
  Resizer resizer(function, resize, options);
  if (failed(resizer.run()))
    return failure();
  mixing.append(resizer.mixing);
  return success();
}

} // namespace

FailureOr<int64_t> batchOf(func::FuncOp function) {
  int64_t batch = 0;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kInputAttr);
    if (type && type.getRank() == 0 && name && name.getValue() == kShareInput)
      continue; // a number for the whole batch
    if (!type || type.getRank() == 0)
      return function.emitError("argument ")
             << argument.getArgNumber() << " has no batch: expected a tensor of samples, got "
             << argument.getType();
    if (batch && type.getDimSize(0) != batch)
      return function.emitError("argument ")
             << argument.getArgNumber() << " holds " << type.getDimSize(0)
             << " samples, but the first one " << batch;
    batch = type.getDimSize(0);
  }
  if (!batch)
    return function.emitError("has no arguments and thus no batch");
  return batch;
}

LogicalResult splitBatch(func::FuncOp function, int64_t parts,
                         SmallVectorImpl<Operation *> &mixing) {
  FailureOr<int64_t> batch = batchOf(function);
  if (failed(batch))
    return failure();
  return resizeBatch(function, Resize::part(*batch, parts), mixing);
}

LogicalResult changeBatch(func::FuncOp function, int64_t size) {
  FailureOr<int64_t> batch = batchOf(function);
  if (failed(batch))
    return failure();
  SmallVector<Operation *> mixing;
  return *batch == size ? success() : resizeBatch(function, Resize::whole(*batch, size), mixing);
}

} // namespace gc
