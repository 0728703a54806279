//===- JoinRows.cpp - parts of the batch that become one tensor -----------===//
//
//   %a = ... : 4x3                              %a = ...
//   ...                                         %0 = gc.pad %a {axis = 0, low = 0, high = 4}
//   %b = ... : 4x3                        =>    ...
//   %y = gc.concat %a, %b {axis = 0}            %b = ...
//                                               %y = gc.put_rows %0, %b {from = 4}
//
//   %p = gc.pad %da {axis = 0, low = 4}         %r = gc.slice %dx {axis = 0, offset = 4, size = 4}
//   %s = gc.add %dx, %p                   =>    %t = gc.add %r, %da
//                                               %s = gc.put_rows %dx, %t {from = 4}
//
// The second is how autodiff adds up the gradients of slices. Where %dx is known to be zero in
// these rows, nothing is added. gc.put_rows is written over what dies there, and the slice is a
// view.
//
//===----------------------------------------------------------------------===//
#include "passes/JoinRows.h"
#include "dialects/Gc.h"

using namespace mlir;

namespace gc {
namespace {

int64_t rowsOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(0); }

/// Rows [first, end) of a tensor.
struct Rows {
  int64_t first, end;
  bool meets(Rows other) const { return first < other.end && other.first < end; }
};

class Joiner {
public:
  explicit Joiner(func::FuncOp function) : block(function.getBody().front()) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto concat = dyn_cast<ConcatOp>(op); concat && concat.getAxis() == 0)
        join(concat);
      else if (auto add = dyn_cast<AddOp>(op))
        addRows(add);
    }
  }

private:
  // Parts are written in the order in which they are made.
  void join(ConcatOp op) {
    struct Part {
      Value value;
      int64_t from;
    };
    SmallVector<Part> parts;
    int64_t rows = rowsOf(op.getOutput()), from = 0;
    for (Value input : op.getInputs()) {
      parts.push_back({input, from});
      from += rowsOf(input);
    }
    llvm::stable_sort(parts, [](const Part &a, const Part &b) {
      Operation *first = a.value.getDefiningOp(), *second = b.value.getDefiningOp();
      return second && (!first || (first != second && first->isBeforeInBlock(second)));
    });
    OpBuilder builder(op);
    Value whole;
    for (const Part &part : parts) {
      if (!whole || isBehind(part.value, whole))
        setAfter(builder, part.value);
      int64_t behind = rows - part.from - rowsOf(part.value);
      whole = whole ? Value(PutRowsOp::create(builder, op.getLoc(), whole.getType(), whole,
                                              part.value, builder.getI64IntegerAttr(part.from)))
                    : Value(PadOp::create(builder, op.getLoc(), op.getOutput().getType(),
                                          part.value, builder.getI64IntegerAttr(0),
                                          builder.getI64IntegerAttr(part.from),
                                          builder.getI64IntegerAttr(behind)));
    }
    op.getOutput().replaceAllUsesWith(whole);
    op.erase();
  }

  static bool isBehind(Value value, Value other) {
    Operation *op = value.getDefiningOp();
    return op && other.getDefiningOp()->isBeforeInBlock(op);
  }
  void setAfter(OpBuilder &builder, Value value) {
    if (Operation *op = value.getDefiningOp())
      builder.setInsertionPointAfter(op);
    else
      builder.setInsertionPointToStart(&block);
  }

  // A pad along axis 0 that nothing else reads.
  static PadOp rowsIn(Value value) {
    auto pad = value.getDefiningOp<PadOp>();
    return pad && pad.getAxis() == 0 && pad->hasOneUse() ? pad : PadOp();
  }

  void addRows(AddOp op) {
    Value sum = op->getOperand(0);
    PadOp pad = rowsIn(op->getOperand(1));
    if (!pad) {
      sum = op->getOperand(1);
      pad = rowsIn(op->getOperand(0));
    }
    if (!pad)
      return;
    OpBuilder builder(op);
    Value part = pad.getInput();
    auto from = static_cast<int64_t>(pad.getLow());
    Rows rows{from, from + rowsOf(part)};
    if (auto first = rowsIn(sum))
      written[sum] = {{static_cast<int64_t>(first.getLow()),
                       static_cast<int64_t>(first.getLow()) + rowsOf(first.getInput())}};
    auto known = written.find(sum);
    SmallVector<Rows> covered = known == written.end() ? SmallVector<Rows>() : known->second;
    bool isZero =
        !covered.empty() && llvm::none_of(covered, [&](Rows own) { return own.meets(rows); });
    if (!isZero) {
      Value slice =
          SliceOp::create(builder, op.getLoc(), part.getType(), sum, builder.getI64IntegerAttr(0),
                          builder.getI64IntegerAttr(from), builder.getI64IntegerAttr(rowsOf(part)));
      part = AddOp::create(builder, op.getLoc(), part.getType(), slice, part);
    }
    Value joined = PutRowsOp::create(builder, op.getLoc(), sum.getType(), sum, part,
                                     builder.getI64IntegerAttr(from));
    if (!covered.empty()) {
      covered.push_back(rows);
      written[joined] = std::move(covered);
    }
    op->getResult(0).replaceAllUsesWith(joined);
    op.erase();
    pad.erase();
  }

  Block &block;
  /// For sums of pads, the rows that are not zero.
  llvm::DenseMap<Value, SmallVector<Rows>> written;
};

} // namespace

void joinRows(func::FuncOp function) { Joiner(function).run(); }

} // namespace gc
