//===- Norm.cpp - normalizations in double --------------------------------===//
//
// Batch, layer and group norm differ in which elements share a mean: `group(i)` numbers them.
//
//===----------------------------------------------------------------------===//
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

using Group = llvm::function_ref<int64_t(int64_t)>;

// Mean and 1 / sqrt(variance + epsilon) of each group of equally many elements.
void statistics(const Tensor &x, Group group, double epsilon, Tensor &mean, Tensor &rstd) {
  double count = static_cast<double>(x.size()) / mean.size();
  for (int64_t i = 0; i < x.size(); ++i)
    mean[group(i)] += x[i] / count;
  Tensor variance(mean.shape);
  for (int64_t i = 0; i < x.size(); ++i)
    variance[group(i)] += std::pow(x[i] - mean[group(i)], 2) / count;
  for (int64_t g = 0; g < mean.size(); ++g)
    rstd[g] = 1 / std::sqrt(variance[g] + epsilon);
}

void normalize(const Tensor &x, Group group, const Tensor &mean, const Tensor &rstd,
               const Tensor &weight, const Tensor &bias, Tensor &y) {
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i % weight.size();
    y[i] = (x[i] - mean[group(i)]) * rstd[group(i)] * weight[c] + bias[c];
  }
}

// operands: dy, x, mean, rstd, weight; results: dx, dw, db.
void normGradient(Operands in, Group group, Results out) {
  const Tensor &dy = in[0], &x = in[1], &mean = in[2], &rstd = in[3], &weight = in[4];
  double count = static_cast<double>(x.size()) / mean.size();
  Tensor averageG(mean.shape), averageGH(mean.shape);
  auto normalized = [&](int64_t i) { return (x[i] - mean[group(i)]) * rstd[group(i)]; };
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i % weight.size();
    averageG[group(i)] += dy[i] * weight[c] / count;
    averageGH[group(i)] += dy[i] * weight[c] * normalized(i) / count;
    out[1][c] += dy[i] * normalized(i);
    out[2][c] += dy[i];
  }
  for (int64_t i = 0; i < x.size(); ++i) {
    double g = dy[i] * weight[i % weight.size()];
    out[0][i] = rstd[group(i)] * (g - averageG[group(i)] - normalized(i) * averageGH[group(i)]);
  }
}

} // namespace

bool evaluateNorm(Operation *op, Operands x, Results y) {
  auto channel = [&](int64_t i) { return i % x[0].channels(); };
  auto row = [&](int64_t i) { return i / x[0].channels(); };
  auto channelGroup = [&](int64_t groups) {
    int64_t channels = x[0].channels(), sample = x[0].size() / x[0].shape[0];
    return [=](int64_t i) { return i / sample * groups + i % channels / (channels / groups); };
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](BatchNormOp o) {
        statistics(x[0], channel, number(o.getEpsilon()), y[1], y[2]);
        normalize(x[0], channel, y[1], y[2], x[1], x[2], y[0]);
        return true;
      })
      .Case([&](BatchStatsOp o) {
        statistics(x[0], channel, number(o.getEpsilon()), y[0], y[1]);
        return true;
      })
      .Case([&](InverseDeviationOp o) {
        for (int64_t i = 0; i < y[0].size(); ++i)
          y[0][i] = 1 / std::sqrt(x[0][i] + number(o.getEpsilon()));
        return true;
      })
      .Case([&](NormalizeOp) {
        normalize(x[0], channel, x[1], x[2], x[3], x[4], y[0]);
        return true;
      })
      .Case([&](NormalizeGradOp) {
        for (int64_t i = 0; i < x[0].size(); ++i)
          y[0][i] = x[0][i] * x[1][channel(i)] * x[2][channel(i)];
        return true;
      })
      .Case([&](BatchNormGradParamsOp) {
        for (int64_t i = 0; i < x[0].size(); ++i) {
          int64_t c = channel(i);
          y[0][c] += x[0][i] * (x[1][i] - x[2][c]) * x[3][c];
          y[1][c] += x[0][i];
        }
        return true;
      })
      .Case([&](BatchNormGradInputOp) {
        double n = static_cast<double>(x[0].rows());
        for (int64_t i = 0; i < x[0].size(); ++i) {
          int64_t c = channel(i);
          double h = (x[1][i] - x[2][c]) * x[3][c];
          y[0][i] = x[4][c] * x[3][c] * (x[0][i] - x[6][c] / n - h * x[5][c] / n);
        }
        return true;
      })
      .Case([&](LayerNormOp o) {
        statistics(x[0], row, number(o.getEpsilon()), y[1], y[2]);
        normalize(x[0], row, y[1], y[2], x[1], x[2], y[0]);
        return true;
      })
      .Case([&](LayerNormGradOp) {
        normGradient(x, row, y);
        return true;
      })
      .Case([&](GroupNormOp o) {
        auto group = channelGroup(o.getGroups());
        statistics(x[0], group, number(o.getEpsilon()), y[1], y[2]);
        normalize(x[0], group, y[1], y[2], x[1], x[2], y[0]);
        return true;
      })
      .Case([&](GroupNormGradOp o) {
        normGradient(x, channelGroup(o.getGroups()), y);
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
