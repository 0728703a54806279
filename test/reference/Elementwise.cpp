//===- Elementwise.cpp - point-by-point ops in double ---------------------===//
#include "runtime/weights/Philox.h"
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normalCdf(double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }
double geluByTanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
// With 1 - tanh^2 as 1 / cosh^2.
double slopeOfGeluByTanh(double x) {
  double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x), c = std::cosh(u);
  double slopeOfU = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return (1 + std::tanh(u)) / 2 + x / (2 * c * c) * slopeOfU;
}
bool compares(Predicate predicate, double a, double b) {
  switch (predicate) {
  case Predicate::Less:
    return a < b;
  case Predicate::LessOrEqual:
    return a <= b;
  case Predicate::Greater:
    return a > b;
  case Predicate::GreaterOrEqual:
    return a >= b;
  case Predicate::Equal:
    return a == b;
  case Predicate::NotEqual:
    return a != b;
  }
  llvm_unreachable("all predicates are handled");
}
// Bounds of a clamp; infinite where there is none.
template <typename Op> std::pair<double, double> boundsOf(Op op) {
  return {op.getLow() ? number(*op.getLow()) : -INFINITY,
          op.getHigh() ? number(*op.getHigh()) : INFINITY};
}
double normalDensity(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }

// Key: the seed, its high half xor the id; counter (block, step), two words each; word i mod 4 of
// block i / 4, counted through the micro-batches.
void dropout(DropoutOp op, Operands operands, Tensor &y) {
  const Tensor &x = operands[0], &generator = operands[1];
  auto seed = static_cast<uint64_t>(generator[0]), step = static_cast<uint64_t>(generator[1]);
  runtime::Philox philox(seed ^ (static_cast<uint64_t>(op.getId()) << 32));
  double probability = number(op.getProbability());
  auto microBatch = static_cast<int64_t>(op.getMicroBatch() ? operands[2][0] : 0);
  int64_t start = microBatch * ((x.size() + 3) / 4);
  for (int64_t i = 0; i < x.size(); ++i) {
    auto group = static_cast<uint64_t>(start + i / 4);
    auto words = philox(
        runtime::Philox::Block{static_cast<uint32_t>(group), static_cast<uint32_t>(group >> 32),
                               static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)});
    y[i] = words[i % 4] >= probability * 4294967296.0 ? x[i] / (1 - probability) : 0;
  }
}

} // namespace

bool evaluateElementwise(Operation *op, Operands x, Results y) {
  auto unary = [&](auto f) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0][i] = f(x[0][i]);
    return true;
  };
  auto binary = [&](auto f) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0][i] = f(x[0][i], x[1][i]);
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](AddOp) { return binary([](double a, double b) { return a + b; }); })
      .Case([&](SubOp) { return binary([](double a, double b) { return a - b; }); })
      .Case([&](MulOp) { return binary([](double a, double b) { return a * b; }); })
      .Case([&](DivOp) { return binary([](double a, double b) { return a / b; }); })
      // A double stands for a number of any type, not rounded.
      .Case([&](CastOp) { return unary([](double a) { return a; }); })
      .Case([&](NegOp) { return unary([](double a) { return -a; }); })
      .Case([&](ExpOp) { return unary([](double a) { return std::exp(a); }); })
      .Case([&](LogOp) { return unary([](double a) { return std::log(a); }); })
      .Case([&](SqrtOp) { return unary([](double a) { return std::sqrt(a); }); })
      .Case([&](TanhOp) { return unary([](double a) { return std::tanh(a); }); })
      .Case([&](SigmoidOp) { return unary([](double a) { return 1 / (1 + std::exp(-a)); }); })
      .Case([&](ReluOp) { return unary([](double a) { return a > 0 ? a : 0; }); })
      .Case([&](GeluOp o) {
        bool byTanh = o.getApproximate() == GeluForm::Tanh;
        return unary([&](double a) { return byTanh ? geluByTanh(a) : a * normalCdf(a); });
      })
      .Case([&](SiluOp) { return unary([](double a) { return a * sigmoid(a); }); })
      .Case([&](ScaleOp o) {
        double factor = number(o.getFactor());
        return unary([&](double a) { return factor * a; });
      })
      .Case([&](AddScalarOp o) {
        double addend = number(o.getAddend());
        return unary([&](double a) { return a + addend; });
      })
      .Case([&](AbsOp) { return unary([](double a) { return std::abs(a); }); })
      .Case([&](RsqrtOp) { return unary([](double a) { return 1 / std::sqrt(a); }); })
      .Case([&](PowOp o) {
        double exponent = number(o.getExponent());
        return unary([&](double a) { return std::pow(a, exponent); });
      })
      .Case([&](ClampOp o) {
        auto [low, high] = boundsOf(o);
        return unary([low = low, high = high](double a) {
          return a < low ? low : a > high ? high : a;
        });
      })
      .Case([&](LeakyReluOp o) {
        double slope = number(o.getSlope());
        return unary([&](double a) { return a > 0 ? a : slope * a; });
      })
      .Case([&](EluOp o) {
        double alpha = number(o.getAlpha());
        return unary([&](double a) { return a > 0 ? a : alpha * std::expm1(a); });
      })
      .Case([&](SoftplusOp) { return unary([](double a) { return std::log1p(std::exp(a)); }); })
      .Case([&](HardswishOp) {
        return unary([](double a) { return a <= -3 ? 0 : a >= 3 ? a : a * (a + 3) / 6; });
      })
      .Case([&](HardsigmoidOp) {
        return unary([](double a) { return a <= -3 ? 0 : a >= 3 ? 1 : a / 6 + 0.5; });
      })
      .Case([&](CompareOp o) {
        return binary([&](double a, double b) { return compares(o.getPredicate(), a, b) ? 1 : 0; });
      })
      .Case([&](SelectOp) {
        for (int64_t i = 0; i < y[0].size(); ++i)
          y[0][i] = x[0][i] != 0 ? x[1][i] : x[2][i];
        return true;
      })
      .Case([&](MaskedFillOp o) {
        double value = number(o.getValue());
        bool inverted = o.getInverted();
        return binary([&](double a, double mask) { return (mask != 0) != inverted ? value : a; });
      })
      .Case([&](AbsGradOp) {
        return binary([](double a, double dy) { return a > 0 ? dy : a < 0 ? -dy : 0; });
      })
      .Case([&](ClampGradOp o) {
        auto [low, high] = boundsOf(o);
        return binary([low = low, high = high, open = o.getOpen()](double a, double dy) {
          return (a > low && a < high) || (!open && (a == low || a == high)) ? dy : 0;
        });
      })
      .Case([&](LeakyReluGradOp o) {
        double slope = number(o.getSlope());
        return binary([&](double out, double dy) { return out > 0 ? dy : slope * dy; });
      })
      .Case([&](EluGradOp o) {
        double alpha = number(o.getAlpha());
        return binary([&](double out, double dy) { return out > 0 ? dy : (out + alpha) * dy; });
      })
      .Case([&](HardswishGradOp) {
        return binary([](double a, double dy) {
          return a <= -3 ? 0 : a >= 3 ? dy : dy * (a / 3 + 0.5);
        });
      })
      .Case([&](HardsigmoidGradOp) {
        return binary([](double out, double dy) { return out > 0 && out < 1 ? dy / 6 : 0; });
      })
      .Case([&](ReluGradOp) {
        return binary([](double out, double dy) { return out > 0 ? dy : 0; });
      })
      .Case([&](GeluGradOp o) {
        if (o.getApproximate() == GeluForm::Tanh)
          return binary([](double a, double dy) { return dy * slopeOfGeluByTanh(a); });
        return binary(
            [](double a, double dy) { return dy * (normalCdf(a) + a * normalDensity(a)); });
      })
      .Case([&](SiluGradOp) {
        return binary([](double a, double dy) {
          return dy * (sigmoid(a) + a * sigmoid(a) * (1 - sigmoid(a)));
        });
      })
      .Case([&](BiasOp) {
        int64_t channels = x[1].size();
        for (int64_t i = 0; i < y[0].size(); ++i)
          y[0][i] = x[0][i] + x[1][i % channels];
        return true;
      })
      .Case([&](BroadcastOp o) {
        for (int64_t i = 0; i < y[0].size(); ++i) {
          std::vector<int64_t> to = y[0].index(i), from;
          for (auto [d, dimension] : llvm::enumerate(o.getDimensions()))
            from.push_back(x[0].shape[d] == 1 ? 0 : to[dimension]);
          y[0][i] = x[0][x[0].offset(from)];
        }
        return true;
      })
      .Case([&](DropoutOp o) {
        dropout(o, x, y[0]);
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace gc::reference
