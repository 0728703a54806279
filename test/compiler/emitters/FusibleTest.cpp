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

// A new op is tested here without a word: against its values in test/reference.
TEST_P(PointwiseTest, MatchesReference) {
  ASSERT_GT(GetParam().operands, 0u);
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{1}, {37}, {3, 5, 7}, {2, 1031}, {1024}, {}}) {
    std::vector<Tensor> operands;
    std::vector<gc::reference::Tensor> doubles;
    std::string text = "%r = gc." + GetParam().name;
    float range = GetParam().operands == 1 ? 6 : 2;
    for (unsigned i = 0; i < GetParam().operands; ++i) {
      operands.push_back(Tensor::random(shape, i + 1, -range, range));
      doubles.emplace_back(shape);
      for (int64_t j = 0; j < operands[i].size(); ++j)
        doubles[i][j] = operands[i][j];
      text += (i ? ", %" : " %") + std::to_string(i);
    }
    std::string type = operands[0].type();
    text += signature(operands, {type});
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
      expectClose(actual, finite, 1e-6, how + type);
    };
    check(run(text, operands), "");
    for (unsigned i = 0; i < GetParam().operands; ++i) {
      std::vector<int> over(GetParam().operands, -1);
      over[i] = 0;
      check(run(text, operands, {}, over), "over operand " + std::to_string(i) + " ");
    }
    check(run(text, operands, {}, {}, "", 1), "streamed ");
  }
}

INSTANTIATE_TEST_SUITE_P(All, PointwiseTest, testing::ValuesIn(pointwiseOps()),
                         [](const auto &info) { return info.param.name; });

TEST(PointwiseOps, AreFound) {
  std::vector<Pointwise> ops = pointwiseOps();
  for (auto [name, operands] : {Pointwise{"relu", 1}, {"add", 2}, {"gelu_grad", 2}})
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

TEST(FusibleTest, NormalizeGrad) {
  for (Size size : sizes) {
    std::vector<int64_t> full{size.rows, size.channels}, channel{size.channels};
    Tensor dy = Tensor::random(full, 1), rstd = Tensor::random(channel, 2, 0.5f, 2);
    Tensor w = Tensor::random(channel, 3);
    std::vector<double> expected;
    for (int64_t i = 0; i < dy.size(); ++i)
      expected.push_back(double(dy[i]) * rstd[i % size.channels] * w[i % size.channels]);
    std::vector<Tensor> operands{dy, rstd, w};
    std::string text = "%r = gc.normalize_grad %0, %1, %2" + signature(operands, {dy.type()});
    expectClose(run(text, operands).results[0], expected, 1e-6, dy.type());
    expectClose(run(text, operands, {}, {0, -1, -1}).results[0], expected, 1e-6, dy.type());
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
