//===- Interpreter.cpp - functions, variables, updates --------------------===//
#include "test/reference/Interpreter.h"
#include "test/reference/Families.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>

using namespace mlir;

namespace gc::reference {
namespace {

// Moves the moments of LAMB, and gives the direction for a parameter p.
template <typename Op>
double lambDirection(Op op, double g, double p, double &m, double &v, const Tensor &c) {
  double beta1 = number(op.getBeta1()), beta2 = number(op.getBeta2());
  m = beta1 * m + (1 - beta1) * g;
  v = beta2 * v + (1 - beta2) * g * g;
  return m * c[2] / (std::sqrt(v) * c[3] + number(op.getEpsilon())) +
         number(op.getWeightDecay()) * p;
}

// |p| / |u| of all elements, 1 where one of them is 0.
double lambRatio(LambRatioOp op, ArrayRef<Tensor> x) {
  double parameter = 0, direction = 0;
  for (int64_t i = 0; i < x[0].size(); ++i) {
    double g = x[0][i] * x[1][1], m = x[3][i], v = x[4][i];
    if (std::optional<APFloat> clip = op.getClipValue())
      g = std::clamp(g, -number(*clip), number(*clip));
    double u = lambDirection(op, g, x[2][i], m, v, x[1]);
    parameter += x[2][i] * x[2][i];
    direction += u * u;
  }
  return parameter > 0 && direction > 0 ? std::sqrt(parameter) / std::sqrt(direction) : 1;
}

// Of element i: from the averages of its row and column, where there are columns (x[first + 1]).
double adafactorVariance(ArrayRef<Tensor> x, size_t first, int64_t i, double epsilon) {
  const Tensor &rows = x[first];
  if (x.size() <= first + 1)
    return rows[i];
  const Tensor &columns = x[first + 1], &means = x[first + 2];
  int64_t inner = i % rows.shape[2], line = i / rows.shape[2], outer = line / columns.shape[1];
  int64_t row = outer % rows.shape[1], column = line % columns.shape[1];
  outer /= rows.shape[1];
  return rows[(outer * rows.shape[1] + row) * rows.shape[2] + inner] *
         columns[(outer * columns.shape[1] + column) * rows.shape[2] + inner] /
         std::max(means[outer * rows.shape[2] + inner], epsilon);
}

template <typename Op> double adafactorDirection(Op op, ArrayRef<Tensor> x, double g, int64_t i) {
  double epsilon = number(op.getEpsilon());
  return g / std::sqrt(std::max(adafactorVariance(x, 3, i, epsilon), epsilon * epsilon));
}

double adafactorRatio(AdafactorRatioOp op, ArrayRef<Tensor> x) {
  double parameter = 0, direction = 0, n = static_cast<double>(x[0].size());
  for (int64_t i = 0; i < x[0].size(); ++i) {
    double g = x[0][i] * x[1][1];
    if (std::optional<APFloat> clip = op.getClipValue())
      g = std::clamp(g, -number(*clip), number(*clip));
    double u = adafactorDirection(op, x, g, i);
    parameter += x[2][i] * x[2][i];
    direction += u * u;
  }
  return std::max(number(op.getEpsilon2()), std::sqrt(parameter / n)) /
         std::max(1.0, std::sqrt(direction / n) / number(op.getClipUpdate()));
}

class Executor {
public:
  explicit Executor(Tensors &variables) : variables(variables) {}

  LogicalResult execute(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(execute(&op)))
        return failure();
    return success();
  }

  void bind(Value value, Tensor tensor) { values[value] = std::move(tensor); }

  // A read stands for the variable, at whatever time its value is used.
  const Tensor &get(Value value) {
    if (auto read = value.getDefiningOp<ReadOp>())
      return variables.at(read.getVariable().str());
    return values.at(value);
  }

  Tensors gradients;

private:
  LogicalResult execute(Operation *op) {
    std::vector<Tensor> operands;
    for (Value operand : op->getOperands())
      operands.push_back(get(operand));
    if (auto read = dyn_cast<ReadOp>(op)) {
      Tensor *variable = find(op, read.getVariable());
      if (!variable)
        return failure();
      if (variable->shape != Tensor(read.getValue().getType()).shape)
        return op->emitOpError("reads a variable that was given with another shape");
      return success();
    }
    if (auto gradient = dyn_cast<GradientOp>(op)) {
      gradients[gradient.getParameter().str()] = operands[0];
      return success();
    }
    if (!isMemoryEffectFree(op))
      return change(op, operands);
    FailureOr<std::vector<Tensor>> results = evaluate(op, operands);
    if (failed(results))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op->getResults(), *results))
      bind(value, std::move(tensor));
    return success();
  }

  Tensor *find(Operation *op, StringRef name) {
    auto found = variables.find(name.str());
    if (found != variables.end())
      return &found->second;
    op->emitOpError("needs the variable '") << name << "', which was not given";
    return nullptr;
  }

  LogicalResult change(Operation *op, ArrayRef<Tensor> x) {
    SmallVector<Tensor *> v;
    auto take = [&](std::initializer_list<StringRef> names) {
      for (StringRef name : names)
        v.push_back(find(op, name));
      return !llvm::is_contained(v, nullptr);
    };
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](AccumulateOp o) {
          if (!take({o.getAccumulator()}))
            return failure();
          for (int64_t i = 0; i < x[0].size(); ++i)
            (*v[0])[i] += x[0][i];
          return success();
        })
        .Case([&](AccumulateProductOp o) {
          FailureOr<std::vector<Tensor>> results = evaluate(o.getProduct(), x);
          if (failed(results))
            return failure();
          for (auto [variable, result] : llvm::zip_equal(o.getVariables(), *results)) {
            if (!take({variable.getValue()}))
              return failure();
            for (int64_t i = 0; i < result.size(); ++i)
              (*v.back())[i] += result[i];
          }
          return success();
        })
        .Case([&](AdafactorAverageOp o) {
          if (!take({o.getAverage()}))
            return failure();
          for (int64_t i = 0; i < x[0].size(); ++i)
            (*v[0])[i] += x[1][3] * (x[1][1] * x[1][1] * x[0][i] - (*v[0])[i]);
          return success();
        })
        .Case([&](OptimizerOpInterface o) {
          for (FlatSymbolRefAttr variable : o.getVariables())
            if (!take({variable.getValue()}))
              return failure();
          return optimize(o, x, v);
        })
        .Case([&](RunningStatsOp o) {
          if (!take({o.getRunningMean(), o.getRunningVariance()}))
            return failure();
          double momentum = number(o.getMomentum()), n = static_cast<double>(o.getCount());
          for (int64_t c = 0; c < x[0].size(); ++c) {
            double variance = 1 / (x[1][c] * x[1][c]) - number(o.getEpsilon());
            (*v[0])[c] += momentum * (x[0][c] - (*v[0])[c]);
            (*v[1])[c] += momentum * (variance * n / (n - 1) - (*v[1])[c]);
          }
          return success();
        })
        .Case([&](ClearOp o) {
          if (!take({o.getVariable()}))
            return failure();
          for (int64_t i = 0; i < v[0]->size(); ++i)
            (*v[0])[i] = 0;
          return success();
        })
        .Case([&](AdvanceOp o) {
          if (!take({o.getGenerator()}))
            return failure();
          double &count = (*v[0])[o.getModulo() ? 0 : 1];
          count += 1;
          if (o.getModulo() && count == static_cast<double>(*o.getModulo()))
            count = 0;
          return success();
        })
        .Default(
            [](Operation *o) { return o->emitOpError("is unknown to the reference interpreter"); });
  }

  // x = the gradient, then the coefficients (lr, s, a, b).
  static LogicalResult optimize(OptimizerOpInterface op, ArrayRef<Tensor> x, ArrayRef<Tensor *> v) {
    double scale = number(op.getLrScale()), lr = scale * x[1][0],
           decay = number(op.getWeightDecay());
    Tensor &p = *v[0];
    for (int64_t i = 0; i < p.size(); ++i) {
      double g = x[0][i] * x[1][1];
      if (auto limit = op.getClipValue())
        g = std::clamp(g, -number(*limit), number(*limit));
      if (auto o = dyn_cast<SgdOp>(op.getOperation())) {
        g += decay * p[i];
        if (o.getVelocity()) {
          double velocity = (*v[1])[i] = x[1][2] * (*v[1])[i] + x[1][3] * g;
          g = o.getNesterov() ? g + number(o.getMomentum()) * velocity : velocity;
        }
        p[i] -= lr * g;
      } else if (auto o = dyn_cast<AdamOp>(op.getOperation())) {
        adam(o, g + decay * p[i], scale, x[1], p[i], (*v[1])[i], (*v[2])[i]);
      } else if (auto o = dyn_cast<AdamWOp>(op.getOperation())) {
        p[i] -= lr * decay * p[i];
        adam(o, g, scale, x[1], p[i], (*v[1])[i], (*v[2])[i]);
      } else if (auto o = dyn_cast<RmspropOp>(op.getOperation())) {
        rmsprop(o, g + decay * p[i], lr, v, i);
      } else if (auto o = dyn_cast<LionOp>(op.getOperation())) {
        double &m = (*v[1])[i], beta1 = number(o.getBeta1()), beta2 = number(o.getBeta2());
        double x = beta1 * m + (1 - beta1) * g;
        p[i] -= lr * decay * p[i] + lr * ((x > 0) - (x < 0));
        m = beta2 * m + (1 - beta2) * g;
      } else if (auto o = dyn_cast<LambOp>(op.getOperation())) {
        double &m = (*v[1])[i], &w = (*v[2])[i];
        p[i] -= lr * x[2][0] * lambDirection(o, g, p[i], m, w, x[1]);
      } else if (auto o = dyn_cast<AdafactorOp>(op.getOperation())) {
        p[i] -= lr * decay * p[i];
        p[i] -= std::min(lr, x[1][2]) * x[2][0] * adafactorDirection(o, x, g, i);
      } else {
        return op->emitOpError("is unknown to the reference interpreter");
      }
      if (op.getAverageAttr()) {
        double kept = number(op.getAverageDecay());
        (*v.back())[i] = kept * (*v.back())[i] + (1 - kept) * p[i];
      }
    }
    return success();
  }

  template <typename Adam>
  static void adam(Adam op, double g, double scale, const Tensor &c, double &p, double &m,
                   double &v) {
    double beta1 = number(op.getBeta1()), beta2 = number(op.getBeta2());
    m += (1 - beta1) * (g - m);
    v = beta2 * v + (1 - beta2) * g * g;
    p -= scale * c[2] * m / (std::sqrt(v) * c[3] + number(op.getEpsilon()));
  }

  static void rmsprop(RmspropOp op, double g, double lr, ArrayRef<Tensor *> v, int64_t i) {
    double alpha = number(op.getAlpha()), momentum = number(op.getMomentum());
    double &q = (*v[1])[i], variance = 0;
    q = alpha * q + (1 - alpha) * g * g;
    variance = q;
    size_t next = 2;
    if (op.getGradientAverage()) {
      double &m = (*v[next++])[i];
      m = alpha * m + (1 - alpha) * g;
      variance = std::max(0.0, q - m * m);
    }
    double direction = g / (std::sqrt(variance) + number(op.getEpsilon()));
    if (momentum != 0) {
      double &velocity = (*v[next])[i];
      velocity = momentum * velocity + direction;
      direction = velocity;
    }
    (*v[0])[i] -= lr * direction;
  }

  Tensors &variables;
  struct ByPointer {
    bool operator()(Value a, Value b) const {
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
    }
  };
  std::map<Value, Tensor, ByPointer> values;
};

// (lr, s, a, b), with (a, b) = (lr / (1 - beta1^t), 1 / sqrt(1 - beta2^t)) or (momentum, 1 -
// dampening) after the first step.
void coefficients(CoefficientsOp op, ArrayRef<Tensor> x, Tensor &result) {
  double t = x[0][1] + 1, beta1 = number(op.getBeta1()), beta2 = number(op.getBeta2());
  auto step = static_cast<int64_t>(x[0][1]);
  result[0] = x[1][step % x[1].size()];
  result[1] = 1;
  if (op.getSquares())
    result[1] = std::min(1.0, number(*op.getClipNorm()) / (std::sqrt(x[2][0] + x[2][1]) + 1e-6));
  result[2] = 0;
  result[3] = 1;
  if (op.getMode() == CoefficientsMode::Momentum && t > 1) {
    result[2] = beta1;
    result[3] = 1 - beta2;
  } else if (op.getMode() == CoefficientsMode::Adam ||
             op.getMode() == CoefficientsMode::Corrected) {
    result[2] = (op.getMode() == CoefficientsMode::Adam ? result[0] : 1) / (1 - std::pow(beta1, t));
    result[3] = 1 / std::sqrt(1 - std::pow(beta2, t));
  } else if (op.getMode() == CoefficientsMode::Adafactor) {
    result[2] = 1 / std::sqrt(t);
    result[3] = std::pow(t, beta2);
  }
}

std::string nameOf(StringAttr name, unsigned index) {
  return name ? name.getValue().str() : std::to_string(index);
}

} // namespace

FailureOr<std::vector<Tensor>> evaluate(Operation *op, ArrayRef<Tensor> operands) {
  std::vector<Tensor> results;
  for (Type type : op->getResultTypes())
    results.emplace_back(type);
  if (auto fused = dyn_cast<FusedOp>(op)) {
    Tensors none;
    Executor body(none);
    for (auto [argument, operand] : llvm::zip_equal(fused.getBody().getArguments(), operands))
      body.bind(argument, operand);
    if (failed(body.execute(fused.getBody().front())))
      return failure();
    for (auto [i, value] : llvm::enumerate(fused.getBody().front().getTerminator()->getOperands()))
      results[i] = body.get(value);
    return results;
  }
  if (auto seed = dyn_cast<GradientSeedOp>(op)) {
    results[0][0] = number(seed.getScale());
    return results;
  }
  if (auto o = dyn_cast<CoefficientsOp>(op)) {
    coefficients(o, operands, results[0]);
    return results;
  }
  if (auto o = dyn_cast<LambRatioOp>(op)) {
    results[0][0] = lambRatio(o, operands);
    return results;
  }
  if (auto o = dyn_cast<AdafactorRatioOp>(op)) {
    results[0][0] = adafactorRatio(o, operands);
    return results;
  }
  if (auto o = dyn_cast<SquareSumOp>(op)) {
    for (double x : operands[0].data)
      results[0][0] += x * x;
    if (o.getBefore())
      results[0][0] += operands[1][0] + operands[1][1];
    return results;
  }
  for (auto family : {evaluateElementwise, evaluateLinear, evaluateNorm, evaluatePool,
                      evaluateAttention, evaluateShape, evaluateLoss})
    if (family(op, operands, results))
      return results;
  return op->emitOpError("is unknown to the reference interpreter");
}

FailureOr<Outputs> run(func::FuncOp function, const Tensors &inputs, Tensors &variables) {
  Executor executor(variables);
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = nameOf(function.getArgAttrOfType<StringAttr>(i, "gc.input"), i);
    auto found = inputs.find(name);
    if (found == inputs.end())
      return function.emitOpError("needs the input '") << name << "', which was not given";
    if (found->second.shape != Tensor(argument.getType()).shape)
      return function.emitOpError("input '") << name << "' was given with another shape";
    executor.bind(argument, found->second);
  }
  Block &block = function.getBody().front();
  if (failed(executor.execute(block)))
    return failure();
  Outputs outputs;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    outputs.results[nameOf(function.getResultAttrOfType<StringAttr>(i, "gc.output"), i)] =
        executor.get(value);
  outputs.gradients = std::move(executor.gradients);
  return outputs;
}

} // namespace gc::reference
