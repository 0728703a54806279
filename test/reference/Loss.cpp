//===- Loss.cpp - loss and metrics in double ------------------------------===//
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

double countLabelled(const Tensor &labels) {
  return static_cast<double>(llvm::count_if(labels.data, [](double l) { return l >= 0; }));
}

} // namespace

bool evaluateLoss(Operation *op, Operands x, Results y) {
  auto logit = [&](int64_t n, int64_t c) { return x[0].at({n, c}); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](CrossEntropyOp o) {
        int64_t classes = x[0].channels();
        double e = number(o.getLabelSmoothing());
        for (int64_t n = 0; n < x[0].rows(); ++n) {
          double largest = logit(n, 0), sum = 0, total = 0;
          for (int64_t c = 0; c < classes; ++c)
            largest = std::max(largest, logit(n, c));
          for (int64_t c = 0; c < classes; ++c)
            sum += std::exp(logit(n, c) - largest), total += logit(n, c);
          y[1][n] = largest + std::log(sum);
          if (x[1][n] >= 0)
            y[0][0] += (y[1][n] - (1 - e) * logit(n, static_cast<int64_t>(x[1][n])) -
                        e * total / static_cast<double>(classes)) /
                       countLabelled(x[1]);
        }
        return true;
      })
      .Case([&](CrossEntropyGradOp o) {
        int64_t classes = x[0].channels();
        double e = number(o.getLabelSmoothing());
        for (int64_t i = 0; i < x[0].size(); ++i) {
          int64_t n = i / classes, c = i % classes;
          if (x[1][n] >= 0)
            y[0][i] = x[3][0] / countLabelled(x[1]) *
                      (std::exp(x[0][i] - x[2][n]) - (1 - e) * (x[1][n] == static_cast<double>(c)) -
                       e / static_cast<double>(classes));
        }
        return true;
      })
      .Case([&](AccuracyOp) {
        for (int64_t n = 0; n < x[0].rows(); ++n) {
          int64_t best = 0;
          for (int64_t c = 1; c < x[0].channels(); ++c)
            if (logit(n, c) > logit(n, best))
              best = c;
          y[0][0] += x[1][n] == static_cast<double>(best);
        }
        return true;
      })
      .Case([&](LabelCountOp o) {
        for (double label : x[0].data)
          y[0][0] += label >= 0 && label < static_cast<double>(o.getClasses());
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
