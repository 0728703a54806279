//===- FusibleTest.cpp - Elementwise ops, groups, sums over rows ----------===//
#include "dialects/Gc.h"
#include "mlir/IR/Verifier.h"
#include "test/compiler/emitters/OpUnderTest.h"
#include "test/reference/Interpreter.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace gc::test;

namespace {

// Ops that are one formula without attributes: their text says everything.
struct Pointwise {
  std::string name;
  unsigned operands;
};
void PrintTo(const Pointwise &op, std::ostream *stream) { *stream << op.name; }

// How many operands of a type `name` takes; 0 if that is not how it is built.
unsigned operandCount(mlir::MLIRContext &context, mlir::OperationName name, mlir::Type type) {
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::Block arguments;
  for (unsigned count = 1; count <= 4; ++count) {
    arguments.addArgument(type, loc);
    mlir::OperationState state(loc, name, arguments.getArguments(), {type}, {});
    mlir::OwningOpRef<mlir::Operation *> op(mlir::Operation::create(state));
    if (succeeded(mlir::verify(*op)))
      return count;
  }
  return 0;
}

std::vector<Pointwise> pointwiseOps() {
  OpUnderTest none;
  auto type = mlir::RankedTensorType::get({1}, mlir::Float32Type::get(&none.context));
  std::vector<Pointwise> ops;
  for (mlir::RegisteredOperationName op : none.context.getRegisteredOperations())
    if (op.hasInterface<gc::FusibleOpInterface>() &&
        op.hasTrait<mlir::OpTrait::SameOperandsAndResultType>() && op.getAttributeNames().empty())
      ops.push_back({op.stripDialect().str(), operandCount(none.context, op, type)});
  std::sort(ops.begin(), ops.end(), [](auto &a, auto &b) { return a.name < b.name; });
  return ops;
}

class PointwiseTest : public testing::TestWithParam<Pointwise> {};

// `head` is what stands before the operands, `tail` what stands behind them; operands are drawn
// from [low, high].
void expectReferencesValues(const std::string &head, const std::string &tail, unsigned operandCount,
                            float low, float high, double tolerance = 1e-6) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{1}, {37}, {3, 5, 7}, {2, 1031}, {1024}, {}}) {
    std::vector<Tensor> operands;
    std::vector<gc::reference::Tensor> doubles;
    std::string text = "%r = gc." + head;
    for (unsigned i = 0; i < operandCount; ++i) {
      operands.push_back(Tensor::random(shape, i + 1, low, high));
      doubles.emplace_back(shape);
      for (int64_t j = 0; j < operands[i].size(); ++j)
        doubles[i][j] = operands[i][j];
      text += (i ? ", %" : " %") + std::to_string(i);
    }
    std::string type = operands[0].type();
    text += tail + signature(operands, {type});
    OpUnderTest parsed(text, operands, "");
    auto expected = gc::reference::evaluate(parsed.op, doubles);
    ASSERT_TRUE(succeeded(expected)) << parsed.messages;

    auto check = [&](Outcome outcome, const std::string &how) {
      Tensor &actual = outcome.results[0];
      std::vector<double> finite = (*expected)[0].data;
      for (int64_t i = 0; i < actual.size(); ++i)
        if (std::isnan(finite[i])) { // a logarithm below 0
          EXPECT_TRUE(std::isnan(actual[i])) << how << " element " << i << ": " << actual[i];
          actual[i] = 0, finite[i] = 0;
        }
      expectClose(actual, finite, tolerance, how + type);
    };
    check(run(text, operands), "");
    for (unsigned i = 0; i < operandCount; ++i) {
      std::vector<int> over(operandCount, -1);
      over[i] = 0;
      check(run(text, operands, {}, over), "over operand " + std::to_string(i) + " ");
    }
    check(run(text, operands, {}, {}, "", 1), "streamed ");
  }
}

// A new op is tested here without a word: against its values in test/reference.
TEST_P(PointwiseTest, MatchesReference) {
  ASSERT_GT(GetParam().operands, 0u);
  float range = GetParam().operands == 1 ? 6 : 2;
  expectReferencesValues(GetParam().name, "", GetParam().operands, -range, range);
}

INSTANTIATE_TEST_SUITE_P(All, PointwiseTest, testing::ValuesIn(pointwiseOps()),
                         [](const auto &info) { return info.param.name; });

TEST(PointwiseOps, AreFound) {
  std::vector<Pointwise> ops = pointwiseOps();
  for (auto [name, operands] : {Pointwise{"relu", 1}, {"add", 2}, {"silu_grad", 2}})
    EXPECT_TRUE(std::any_of(ops.begin(), ops.end(),
                            [&, name = name, operands = operands](auto &op) {
                              return op.name == name && op.operands == operands;
                            }))
        << name;
}

TEST(FusibleTest, TheSameOperandTwiceInPlace) {
  Tensor x = Tensor::random({101}, 3);
  // Both operands are one value; the emitter sees it even though only the first is listed.
  Outcome outcome = run(
      "%r = gc.mul %0, %0 : (tensor<101xf32>, tensor<101xf32>) -> tensor<101xf32>", {x}, {}, {0});
  std::vector<double> expected;
  for (int64_t i = 0; i < x.size(); ++i)
    expected.push_back(double(x[i]) * x[i]);
  expectClose(outcome.results[0], expected, 1e-6);
  EXPECT_EQ(outcome.launches[0].size(), 1u);
}

TEST(FusibleTest, Scale) {
  Tensor x = Tensor::random({3, 11}, 3);
  std::vector<double> expected;
  for (int64_t i = 0; i < x.size(); ++i)
    expected.push_back(0.25 * x[i]);
  expectClose(
      run("%r = gc.scale %0 {factor = 0.25 : f32}" + signature({x}, {x.type()}), {x}).results[0],
      expected, 1e-7);
}

TEST(FusibleTest, OpsWithAttributes) {
  struct Case {
    const char *head, *tail;
    unsigned operands;
    float low = -4, high = 4;
    double tolerance = 1e-6;
  };
  for (const Case &c : {Case{"gelu", "", 1},
                        {"gelu_grad", "", 2},
                        {"gelu", " approximate = tanh", 1},
                        // Where tanh is near -1, one plus it has lost digits.
                        {"gelu_grad", " approximate = tanh", 2, -4, 4, 4e-6},
                        {"add_scalar", " {addend = -1.5 : f32}", 1},
                        {"clamp", " {low = -1.0 : f32, high = 2.0 : f32}", 1},
                        {"clamp", " {high = 0.5 : f32}", 1},
                        {"clamp_grad", " {low = -1.0 : f32, high = 2.0 : f32}", 2},
                        {"clamp_grad", " {low = -1.0 : f32, open = true}", 2},
                        {"leaky_relu", " {slope = 0.125 : f32}", 1},
                        {"leaky_relu_grad", " {slope = 0.125 : f32}", 2},
                        {"elu", " {alpha = 1.5 : f32}", 1},
                        {"elu_grad", " {alpha = 1.5 : f32}", 2},
                        {"pow", " {exponent = 1.0 : f32}", 1},
                        {"pow", " {exponent = 2.0 : f32}", 1},
                        {"pow", " {exponent = 3.0 : f32}", 1},
                        {"pow", " {exponent = -6.0 : f32}", 1, 0.5, 2},
                        {"pow", " {exponent = 0.5 : f32}", 1},
                        {"pow", " {exponent = -2.5 : f32}", 1, 0.5, 2},
                        {"pow", " {exponent = 0.3 : f32}", 1},
                        {"masked_fill", " {value = 7.0 : f32}", 2},
                        {"masked_fill", " {value = 7.0 : f32, inverted = true}", 2},
                        {"compare lt", "", 2},
                        {"compare le", "", 2},
                        {"compare gt", "", 2},
                        {"compare ge", "", 2},
                        {"compare eq", "", 2},
                        {"compare ne", "", 2}})
    expectReferencesValues(c.head, c.tail, c.operands, c.low, c.high, c.tolerance);
}

// At a bound, a gradient passes or not; equal numbers are equal; a mask of zero keeps.
TEST(FusibleTest, AtTheirKinks) {
  auto values = [](const std::string &text, const std::vector<Tensor> &operands) {
    Outcome outcome = run("%r = gc." + text + signature(operands, {operands[0].type()}), operands);
    std::vector<float> result;
    for (int64_t i = 0; i < operands[0].size(); ++i)
      result.push_back(outcome.results[0][i]);
    return result;
  };
  using Values = std::vector<float>;
  Tensor x = Tensor::of({3}, {0, 6, 3}), dy = Tensor::of({3}, {5, 5, 5});
  EXPECT_EQ(values("clamp_grad %0, %1 {low = 0.0 : f32, high = 6.0 : f32}", {x, dy}),
            (Values{5, 5, 5}));
  EXPECT_EQ(values("clamp_grad %0, %1 {low = 0.0 : f32, high = 6.0 : f32, open = true}", {x, dy}),
            (Values{0, 0, 5}));
  EXPECT_EQ(values("compare eq %0, %1", {x, Tensor::of({3}, {0, 5, 3})}), (Values{1, 0, 1}));
  EXPECT_EQ(values("compare le %0, %1", {x, Tensor::of({3}, {0, 5, 4})}), (Values{1, 0, 1}));
  EXPECT_EQ(values("select %0, %1, %2", {x, dy, x}), (Values{0, 5, 5}));
  EXPECT_EQ(values("masked_fill %0, %1 {value = 0xFF800000 : f32}", {dy, x}),
            (Values{5, -INFINITY, -INFINITY}));
  EXPECT_EQ(values("masked_fill %0, %1 {value = 7.0 : f32, inverted = true}", {dy, x}),
            (Values{7, 5, 5}));
  EXPECT_EQ(values("abs_grad %0, %1", {Tensor::of({3}, {0, -2, 2}), dy}), (Values{0, -5, 5}));
  EXPECT_EQ(values("hardswish_grad %0, %1", {Tensor::of({3}, {-3, 3, 0}), dy}),
            (Values{0, 5, 2.5}));
  Tensor nan = Tensor::of({3}, {NAN, -INFINITY, INFINITY});
  EXPECT_TRUE(std::isnan(values("clamp %0 {low = 0.0 : f32, high = 6.0 : f32}", {nan})[0]));
  EXPECT_EQ(values("softplus %0", {nan})[2], INFINITY);
  EXPECT_EQ(values("softplus %0", {nan})[1], 0);
}

TEST(FusibleTest, NaNPassesReluAndZeroDoesNotPassItsGradient) {
  Tensor x = Tensor::of({3}, {NAN, 0, -0.0f}), dy = Tensor::of({3}, {5, 6, 7});
  Outcome relu = run("%r = gc.relu %0" + signature({x}, {x.type()}), {x});
  EXPECT_TRUE(std::isnan(relu.results[0][0]));
  EXPECT_EQ(relu.results[0][1], 0);
  Outcome gradient = run("%r = gc.relu_grad %0, %1" + signature({x, dy}, {x.type()}), {x, dy});
  EXPECT_EQ(gradient.results[0][1], 0);
  EXPECT_EQ(gradient.results[0][2], 0);
}

struct Size {
  int64_t rows, channels;
};
const Size sizes[] = {{1, 1},    {5, 3},    {17, 8},    {3, 64},
                      {131, 10}, {2, 2048}, {4099, 16}, {997, 37}};

TEST(FusibleTest, Bias) {
  for (Size size : sizes) {
    Tensor x = Tensor::random({size.rows, size.channels}, 1),
           b = Tensor::random({size.channels}, 2);
    std::vector<double> expected;
    for (int64_t i = 0; i < x.size(); ++i)
      expected.push_back(double(x[i]) + b[i % size.channels]);
    std::string text = "%r = gc.bias %0, %1" + signature({x, b}, {x.type()});
    expectClose(run(text, {x, b}).results[0], expected, 1e-6, x.type());
    expectClose(run(text, {x, b}, {}, {0, -1}).results[0], expected, 1e-6, x.type());
  }
}

TEST(FusibleTest, NormalizeAddReluInOneGroup) {
  for (Size size : sizes) {
    std::vector<int64_t> full{size.rows, size.channels}, channel{size.channels};
    Tensor x = Tensor::random(full, 1), mean = Tensor::random(channel, 2);
    Tensor rstd = Tensor::random(channel, 3, 0.5f, 2), w = Tensor::random(channel, 4);
    Tensor b = Tensor::random(channel, 5), residual = Tensor::random(full, 6);
    std::string f = x.type(), c = mean.type();
    std::string text = "%r = gc.fused (%x = %0 : " + f + ", %m = %1 : " + c + ", %s = %2 : " + c +
                       ", %w = %3 : " + c + ", %b = %4 : " + c + ", %d = %5 : " + f + ") -> " + f +
                       " {\n %p = gc.normalize %x, %m, %s, %w, %b : (" + f + ", " + c + ", " + c +
                       ", " + c + ", " + c + ") -> " + f + "\n %q = gc.add %p, %d : (" + f + ", " +
                       f + ") -> " + f + "\n %y = gc.relu %q : (" + f + ") -> " + f +
                       "\n gc.yield %y : " + f + "\n}";
    std::vector<double> expected;
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t j = i % size.channels;
      double y = (double(x[i]) - mean[j]) * rstd[j] * w[j] + b[j] + residual[i];
      expected.push_back(y > 0 ? y : 0);
    }
    std::vector<Tensor> operands{x, mean, rstd, w, b, residual};
    Outcome cached = run(text, operands);
    expectClose(cached.results[0], expected, 1e-6, f);
    Outcome streamed = run(text, operands, {}, {}, "", /*streamBytes=*/1);
    EXPECT_EQ(streamed.results[0].bytes, cached.results[0].bytes) << "bits depend on the cache";
    expectClose(run(text, operands, {}, {-1, -1, -1, -1, -1, 0}).results[0], expected, 1e-6, f);
  }
}

TEST(FusibleTest, SumsOverRows) {
  for (Size size : {Size{1, 1}, {7, 3}, {8192, 5}, {100003, 8}, {513, 64}, {40, 2048}, {3, 4999}}) {
    std::vector<int64_t> full{size.rows, size.channels};
    Tensor x = Tensor::random(full, 1, 0, 1);
    std::vector<double> expected(size.channels);
    for (int64_t i = 0; i < x.size(); ++i)
      expected[i % size.channels] += x[i];
    std::string text = "%r = gc.reduce_sum %0 {dimensions = array<i64: 0>}" +
                       signature({x}, {typeOf({size.channels})});
    expectClose(run(text, {x}).results[0], expected, 5e-7, x.type());
  }
}

TEST(FusibleTest, BatchNormGradParams) {
  for (Size size : {Size{1, 1}, {7, 3}, {50021, 8}, {513, 64}, {48, 2048}}) {
    std::vector<int64_t> full{size.rows, 1, 1, size.channels}, channel{size.channels};
    Tensor dy = Tensor::random(full, 1), x = Tensor::random(full, 2);
    Tensor mean = Tensor::random(channel, 3), rstd = Tensor::random(channel, 4, 0.5f, 2);
    std::vector<double> dw(size.channels), db(size.channels);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t c = i % size.channels;
      dw[c] += double(dy[i]) * (double(x[i]) - mean[c]) * rstd[c];
      db[c] += dy[i];
    }
    std::vector<Tensor> operands{dy, x, mean, rstd};
    Outcome outcome = run("%r:2 = gc.batch_norm_grad_params %0, %1, %2, %3" +
                              signature(operands, {mean.type(), mean.type()}),
                          operands);
    double tolerance = sumTolerance(double(size.rows), 0.8); // |dy| and |h| are about 0.6 and 1.3
    expectClose(outcome.results[0], dw, tolerance, x.type());
    expectClose(outcome.results[1], db, tolerance, x.type());
  }
}

TEST(FusibleTest, BatchNormGradInput) {
  Size size{35, 11};
  std::vector<int64_t> full{5, 7, 1, size.channels}, channel{size.channels};
  Tensor dy = Tensor::random(full, 1), x = Tensor::random(full, 2);
  Tensor mean = Tensor::random(channel, 3), rstd = Tensor::random(channel, 4, 0.5f, 2);
  Tensor w = Tensor::random(channel, 5), dw = Tensor::random(channel, 6);
  Tensor db = Tensor::random(channel, 7);
  std::vector<double> expected;
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i % size.channels;
    double h = (double(x[i]) - mean[c]) * rstd[c];
    expected.push_back(double(w[c]) * rstd[c] *
                       (dy[i] - db[c] / double(size.rows) - h * dw[c] / double(size.rows)));
  }
  std::vector<Tensor> operands{dy, x, mean, rstd, w, dw, db};
  std::string text =
      "%r = gc.batch_norm_grad_input %0, %1, %2, %3, %4, %5, %6" + signature(operands, {x.type()});
  expectClose(run(text, operands).results[0], expected, 1e-6);
  expectClose(run(text, operands, {}, {0}).results[0], expected, 1e-6);
}

TEST(FusibleTest, InverseDeviation) {
  Tensor v = Tensor::random({19}, 1, 0.1f, 3);
  std::vector<double> expected;
  for (int64_t i = 0; i < v.size(); ++i)
    expected.push_back(1 / std::sqrt(double(v[i]) + 1e-3));
  expectClose(
      run("%r = gc.inverse_deviation %0 {epsilon = 1.0e-3 : f32}" + signature({v}, {v.type()}), {v})
          .results[0],
      expected, 1e-6);
}

// A group with a full result and two sums: relu_grad feeding batch_norm_grad_params.
TEST(FusibleTest, ElementwiseAndSumsInOneGroup) {
  for (Size size : {Size{3, 5}, {6001, 16}, {97, 256}}) {
    std::vector<int64_t> full{size.rows, size.channels}, channel{size.channels};
    Tensor y = Tensor::random(full, 1), dy = Tensor::random(full, 2), x = Tensor::random(full, 3);
    Tensor mean = Tensor::random(channel, 4), rstd = Tensor::random(channel, 5, 0.5f, 2);
    std::string f = x.type(), c = mean.type();
    std::string text = "%r:3 = gc.fused (%y = %0 : " + f + ", %dy = %1 : " + f +
                       ", %x = %2 : " + f + ", %m = %3 : " + c + ", %s = %4 : " + c + ") -> (" + f +
                       ", " + c + ", " + c + ") {\n %g = gc.relu_grad %y, %dy : (" + f + ", " + f +
                       ") -> " + f + "\n %w, %b = gc.batch_norm_grad_params %g, %x, %m, %s : (" +
                       f + ", " + f + ", " + c + ", " + c + ") -> (" + c + ", " + c +
                       ")\n gc.yield %g, %w, %b : " + f + ", " + c + ", " + c + "\n}";
    std::vector<double> g, dw(size.channels), db(size.channels);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t j = i % size.channels;
      g.push_back(y[i] > 0 ? dy[i] : 0);
      dw[j] += g.back() * (double(x[i]) - mean[j]) * rstd[j];
      db[j] += g.back();
    }
    std::vector<Tensor> operands{y, dy, x, mean, rstd};
    double tolerance = sumTolerance(double(size.rows), 0.8);
    Outcome apart = run(text, operands), inPlace = run(text, operands, {}, {-1, 0, -1, -1, -1});
    Outcome streamed = run(text, operands, {}, {}, "", /*streamBytes=*/1);
    for (const Outcome *outcome : {&apart, &inPlace, &streamed}) {
      expectClose(outcome->results[0], g, 0);
      expectClose(outcome->results[1], dw, tolerance);
      expectClose(outcome->results[2], db, tolerance);
    }
    // Recomputation may find the group in place where it was not before: the same bits.
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(apart.results[i].bytes, inPlace.results[i].bytes);
      EXPECT_EQ(apart.results[i].bytes, streamed.results[i].bytes);
    }
  }
}

} // namespace
