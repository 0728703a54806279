//===- Shape.cpp - moving and reducing in double --------------------------===//
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

// The element of the reduced tensor that element i of `full` goes to.
int64_t reducedOffset(const Tensor &full, const Tensor &reduced, ArrayRef<int64_t> dimensions,
                      int64_t i) {
  std::vector<int64_t> at = full.index(i), kept;
  for (int64_t d = 0; d < full.rank(); ++d)
    if (!llvm::is_contained(dimensions, d))
      kept.push_back(at[d]);
  return reduced.offset(kept);
}

} // namespace

bool evaluateShape(Operation *op, Operands x, Results y) {
  // Moves x into y along `axis`, x's element 0 at `offset`.
  auto place = [&](const Tensor &from, Tensor &to, int64_t axis, int64_t offset) {
    for (int64_t i = 0; i < from.size(); ++i) {
      std::vector<int64_t> at = from.index(i);
      at[axis] += offset;
      if (at[axis] >= 0 && at[axis] < to.shape[axis])
        to[to.offset(at)] = from[i];
    }
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ReshapeOp) {
        y[0].data = x[0].data;
        return true;
      })
      .Case([&](TransposeOp o) {
        for (int64_t i = 0; i < y[0].size(); ++i) {
          std::vector<int64_t> to = y[0].index(i), from(to.size());
          for (auto [d, source] : llvm::enumerate(o.getPermutation()))
            from[source] = to[d];
          y[0][i] = x[0][x[0].offset(from)];
        }
        return true;
      })
      .Case([&](ConcatOp o) {
        int64_t offset = 0;
        for (const Tensor &part : x) {
          place(part, y[0], o.getAxis(), offset);
          offset += part.shape[o.getAxis()];
        }
        return true;
      })
      .Case([&](SliceOp o) {
        place(x[0], y[0], o.getAxis(), -static_cast<int64_t>(o.getOffset()));
        return true;
      })
      .Case([&](PutRowsOp o) {
        place(x[0], y[0], 0, 0);
        place(x[1], y[0], 0, o.getFrom());
        return true;
      })
      .Case([&](PadOp o) {
        place(x[0], y[0], o.getAxis(), o.getLow());
        return true;
      })
      .Case([&](RollOp o) {
        for (int64_t i = 0; i < x[0].size(); ++i) {
          std::vector<int64_t> at = x[0].index(i);
          int64_t &place = at[o.getAxis()];
          place = (place + static_cast<int64_t>(o.getShift())) % x[0].shape[o.getAxis()];
          y[0][y[0].offset(at)] = x[0][i];
        }
        return true;
      })
      .Case([&](FlipOp o) {
        for (int64_t i = 0; i < x[0].size(); ++i) {
          std::vector<int64_t> at = x[0].index(i);
          at[o.getAxis()] = x[0].shape[o.getAxis()] - 1 - at[o.getAxis()];
          y[0][y[0].offset(at)] = x[0][i];
        }
        return true;
      })
      .Case<ReduceSumOp, ReduceMeanOp>([&](auto o) {
        double count = isa<ReduceMeanOp>(op) ? static_cast<double>(x[0].size()) / y[0].size() : 1;
        for (int64_t i = 0; i < x[0].size(); ++i)
          y[0][reducedOffset(x[0], y[0], o.getDimensions(), i)] += x[0][i] / count;
        return true;
      })
      .Case([&](MeanSquareOp o) {
        double count = static_cast<double>(x[0].size()) / y[0].size();
        for (int64_t i = 0; i < x[0].size(); ++i)
          y[0][reducedOffset(x[0], y[0], o.getDimensions(), i)] += x[0][i] * x[0][i] / count;
        return true;
      })
      .Case([&](ReduceMaxOp o) {
        std::fill(y[0].data.begin(), y[0].data.end(), -INFINITY);
        for (int64_t i = 0; i < x[0].size(); ++i) {
          double &largest = y[0][reducedOffset(x[0], y[0], o.getDimensions(), i)];
          largest = std::max(largest, x[0][i]);
        }
        return true;
      })
      .Case([&](ReduceMaxGradOp o) {
        Tensor equal(x[1].shape);
        for (int pass : {0, 1})
          for (int64_t i = 0; i < x[0].size(); ++i) {
            int64_t to = reducedOffset(x[0], x[1], o.getDimensions(), i);
            if (x[0][i] != x[1][to])
              continue;
            if (pass == 0)
              equal[to] += 1;
            else
              y[0][i] = x[2][to] / equal[to];
          }
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
