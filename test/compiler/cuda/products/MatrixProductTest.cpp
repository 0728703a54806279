//===- MatrixProductTest.cpp - Generated products of matrices -------------===//
#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/grids/ProductKernel.h"
#include "test/compiler/cuda/products/ProductRunner.h"
#include <gtest/gtest.h>
#include <set>

using namespace gc;
using namespace gc::test;

namespace {

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

/// Buffers 0 to 4: a, b, bias, residual, c.
struct Case {
  plan::MatMulSpecT spec;
  int64_t aSize, bSize, cSize;
};

/// Dense matrices, transposed or not, one after the other.
Case product(std::vector<int64_t> batch, int64_t m, int64_t n, int64_t k, bool transposeA = false,
             bool transposeB = false) {
  Case c;
  c.spec.batch = batch;
  c.spec.m = m, c.spec.n = n, c.spec.k = k;
  auto strides = [&](int64_t rows, int64_t columns, bool transposed) {
    std::vector<int64_t> strides{columns, 1};
    if (transposed)
      strides = {1, rows};
    int64_t size = rows * columns;
    for (size_t i = batch.size(); i-- > 0;) {
      strides.insert(strides.begin(), size);
      size *= batch[i];
    }
    return std::pair(strides, size);
  };
  std::tie(c.spec.a_strides, c.aSize) = strides(m, k, transposeA);
  std::tie(c.spec.b_strides, c.bSize) = strides(k, n, transposeB);
  std::tie(c.spec.c_strides, c.cSize) = strides(m, n, false);
  return c;
}

std::vector<Expected> reference(const Case &c, const std::vector<Tensor> &given) {
  const plan::MatMulSpecT &p = c.spec;
  std::vector<Expected> expected(c.cSize);
  for (int64_t i = 0; i < c.cSize; ++i) // what lies between the elements stays
    expected[i].add(given[4][i]);
  int64_t batches = 1;
  for (int64_t size : p.batch)
    batches *= size;
  size_t rank = p.batch.size();
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t a = 0, b = 0, o = 0, left = batch;
    for (size_t d = rank; d-- > 0; left /= p.batch[d]) {
      a += left % p.batch[d] * p.a_strides[d];
      b += left % p.batch[d] * p.b_strides[d];
      o += left % p.batch[d] * p.c_strides[d];
    }
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        Expected sum;
        for (int64_t k = 0; k < p.k; ++k)
          sum.add(double(given[0][a + i * p.a_strides[rank] + k * p.a_strides[rank + 1]]) *
                  given[1][b + k * p.b_strides[rank] + j * p.b_strides[rank + 1]] * p.scale);
        int64_t at = o + i * p.c_strides[rank] + j * p.c_strides[rank + 1];
        if (c.spec.bias)
          sum.add(given[2][j]);
        if (c.spec.residual)
          sum.add(given[3][at]);
        if (p.activation == plan::Activation_Relu)
          sum.value = std::max(0.0, sum.value);
        if (p.activation == plan::Activation_Gelu) {
          // Its slope is below 1.13; the function itself is off by a few roundings.
          sum.magnitude = 1.13 * sum.magnitude + 4 * std::abs(sum.value);
          sum.value = gelu(sum.value);
        }
        if (p.accumulate)
          sum.add(given[4][at]);
        expected[at] = sum;
      }
  }
  return expected;
}

/// Tf32Exact: with operands that TF32 has, so that nothing is rounded but the sums.
enum class Arithmetic { F32, Tf32, Tf32Exact };

/// Runs it with the cut, or with the one that is chosen, and compares.
Outcome check(const Case &c, std::optional<cuda::ProductCut> cut = {},
              Arithmetic arithmetic = Arithmetic::F32,
              const cuda::DeviceModel &device = testDevice()) {
  std::vector<Tensor> given{Tensor::random({c.aSize}, 1), Tensor::random({c.bSize}, 2),
                            Tensor::random({c.spec.n}, 3), Tensor::random({c.cSize}, 4),
                            Tensor::random({c.cSize}, 5)};
  if (arithmetic == Arithmetic::Tf32Exact)
    for (int operand : {0, 1})
      for (float &value : given[operand].values)
        value = std::round(value * 512) / 512;
  Outcome outcome = runKernels(
      given, {},
      [&](cuda::GpuKernels &kernels) {
        auto f32 = mlir::Float32Type::get(kernels.getContext());
        cuda::ProductKernel kernel = cuda::matrixProduct(c.spec);
        kernel.a = kernels.plain(0, {c.aSize}, f32);
        kernel.b = kernels.plain(1, {c.bSize}, f32);
        kernel.c = kernels.plain(4, {c.cSize}, f32);
        if (c.spec.bias)
          kernel.bias = kernels.plain(2, {c.spec.n}, f32);
        if (c.spec.residual)
          kernel.residual = kernels.plain(3, {c.cSize}, f32);
        if (cut)
          addProduct(kernels, kernel, *cut);
        else
          addProduct(kernels, kernel);
      },
      device, arithmetic != Arithmetic::F32);
  expectSums(outcome.buffers[4].values, reference(c, given), "c",
             arithmetic == Arithmetic::Tf32 ? tf32Error : 0);
  EXPECT_EQ(outcome.total().sharedBankConflicts, 0u);
  return outcome;
}

std::string nameOf(const cuda::TileShape &tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
}

class Tiles : public testing::TestWithParam<cuda::TileShape> {};

// Sizes that end within a tile, with vectors (multiples of four) and without, in all layouts.
TEST_P(Tiles, EndsWithinTile) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (int64_t odd : {0, 1}) {
        SCOPED_TRACE(testing::Message() << transposeA << transposeB << odd);
        auto [rows, columns, depth, tr, tc] = GetParam();
        check(product({}, rows + 4 + odd, columns + 8 + odd, 2 * depth + 4 + odd, transposeA,
                      transposeB),
              cuda::cutDepth(GetParam(), 2 * depth + 4 + odd, 1));
      }
}
TEST_P(Tiles, WholeTiles) {
  auto [rows, columns, depth, tr, tc] = GetParam();
  check(product({2}, rows, 2 * columns, 3 * depth, false, true),
        cuda::cutDepth(GetParam(), 3 * depth, 1));
}
TEST_P(Tiles, Splits) {
  auto [rows, columns, depth, tr, tc] = GetParam();
  for (int64_t odd : {0, 3}) {
    Case c = product({2}, rows + odd, 7 + odd, 5 * depth + odd, true);
    c.spec.bias = true;
    cuda::ProductCut cut = cuda::cutDepth(GetParam(), c.spec.k, 3);
    EXPECT_EQ(cut.splits, 3);
    Outcome outcome = check(c, cut);
    EXPECT_EQ(outcome.workspaceBytes, 3 * c.cSize * 4);
  }
}
TEST_P(Tiles, ByTensorCores) {
  auto [rows, columns, depth, tr, tc] = GetParam();
  for (bool transpose : {false, true})
    for (int64_t odd : {0, 1}) {
      SCOPED_TRACE(testing::Message() << transpose << odd);
      int64_t k = 2 * depth + 4 + odd;
      Case c = product({}, rows + 4 + odd, columns + 8 + odd, k, transpose, !transpose);
      c.spec.bias = true;
      check(c, cuda::cutDepth(GetParam(), k, 1), Arithmetic::Tf32Exact);
      if (transpose == (odd == 1))
        check(c, cuda::cutDepth(GetParam(), k, 2), Arithmetic::Tf32);
    }
  // The rounding is there: f32 would not be off by that much.
  Case c = product({}, rows, columns, 4 * depth);
  cuda::ProductCut cut = cuda::cutDepth(GetParam(), 4 * depth, 1);
  const Tensor f32 = check(c, cut).buffers[4], tf32 = check(c, cut, Arithmetic::Tf32).buffers[4];
  float largest = 0;
  for (int64_t i = 0; i < c.cSize; ++i)
    largest = std::max(largest, std::abs(f32[i] - tf32[i]));
  EXPECT_GT(largest, 1e-4f);
}
INSTANTIATE_TEST_SUITE_P(MatrixProduct, Tiles,
                         testing::ValuesIn(cuda::tileShapes().begin(), cuda::tileShapes().end()),
                         [](const auto &info) { return nameOf(info.param); });

// All that may follow the product, with and without splits and vectors.
TEST(MatrixProduct, Epilogues) {
  for (int64_t splits : {1, 2})
    for (int64_t n : {8, 5})
      for (auto activation : {plan::Activation_None, plan::Activation_Relu, plan::Activation_Gelu})
        for (bool accumulate : {false, true}) {
          SCOPED_TRACE(testing::Message() << splits << " " << n << " " << activation << accumulate);
          Case c = product({}, 9, n, 40);
          c.spec.scale = 0.37f;
          c.spec.activation = activation;
          c.spec.accumulate = accumulate;
          c.spec.bias = c.spec.residual = true;
          check(c, cuda::cutDepth(cuda::tileShapes().back(), 40, splits));
        }
}

// One matrix a sample and head, in the middle of others; c transposed.
TEST(MatrixProduct, Strides) {
  Case c = product({2, 3}, 5, 4, 7);
  c.spec.a_strides = {5 * 63, 7, 63, 3}, c.aSize = 2 * 5 * 63;
  c.spec.b_strides = {1000, 28, 4, 1}, c.bSize = 2000;
  c.spec.c_strides = {200, 20, 1, 5}, c.cSize = 400;
  check(c);
}

TEST(MatrixProduct, Ones) {
  check(product({}, 1, 1, 1));
  check(product({}, 1, 1000, 3));
  check(product({}, 17, 1, 5, true, true));
  check(product({3}, 1, 1, 129));
}

// What a multiplication costs beside itself. Loads of fragments, 1/16 for a thread's 8x8 (four
// vectors for 64), 1/8 for 4x4; fetching and transposing, once a step, come on top.
TEST(MatrixProduct, Overhead) {
  for (const cuda::TileShape &tile : cuda::tileShapes()) {
    Case c = product({}, tile.rows, tile.columns, 512, false, true);
    Outcome outcome = check(c, cuda::cutDepth(tile, 512, 1));
    double multiplications = double(tile.rows * tile.columns) * 512 / 32;
    double instructions = double(outcome.total().warpInstructions) / multiplications;
    EXPECT_LT(instructions, tile.threadRows * tile.threadColumns == 64 ? 1.3 : 1.5) << nameOf(tile);
    // Every sector that is fetched is used as a whole, by neighbouring threads.
    auto statistics = outcome.total();
    EXPECT_EQ(statistics.globalTransactions * 32, statistics.globalBytes);
  }
}

cuda::ProductShape shape(int64_t rows, int64_t columns, int64_t depth) {
  return {1, rows, columns, depth, 2. * double(rows * columns) * double(depth)};
}

// What is chosen: 128x128 where there are enough tiles, splits where there are few.
TEST(MatrixProduct, Cut) {
  for (const cuda::DeviceModel &card : cuda::cards()) {
    SCOPED_TRACE(card.name);
    cuda::GridDevice device = cuda::gridDeviceOf(card);
    EXPECT_EQ(nameOf(cuda::cutProduct(shape(8192, 8192, 1024), device).tile), "128x128");
    EXPECT_EQ(cuda::cutProduct(shape(8192, 8192, 1024), device).splits, 1);
    EXPECT_EQ(nameOf(cuda::cutProduct(shape(200704, 64, 576), device).tile), "128x64");
    cuda::ProductCut gradient = cuda::cutProduct(shape(64, 576, 200704), device);
    EXPECT_GT(gradient.splits, 1);
    EXPECT_EQ(gradient.chunk % gradient.tile.depth, 0);
    EXPECT_EQ(cuda::cutProduct(shape(3, 5, 7), device).splits, 1);
  }
}

const cuda::DeviceModel &card(const char *name) { return *cuda::findDeviceModel(name); }

// 84 tiles of 128x128 are a wave of a 3090 Ti with 84 multiprocessors, and two of an A10 with 72.
TEST(MatrixProduct, CutFollowsMultiprocessors) {
  cuda::ProductShape product = shape(12 * 128, 7 * 128, 1024);
  cuda::GridDevice full = cuda::gridDeviceOf(card("RTX 3090 Ti")), fewer = full;
  fewer.multiprocessors = 72;
  fewer.flopsPerSecond *= 72. / 84;
  cuda::ProductCut wave = cuda::cutProduct(product, full);
  EXPECT_EQ(nameOf(wave.tile), "128x128");
  EXPECT_EQ(wave.splits, 1);
  cuda::ProductCut other = cuda::cutProduct(product, fewer);
  EXPECT_TRUE(other.tile != wave.tile || other.splits != wave.splits);
  EXPECT_LT(secondsOf(product, other, fewer), secondsOf(product, wave, fewer));
}

// No cut is faster by the formula than the one that is chosen, on any card.
TEST(MatrixProduct, CutIsTheFastest) {
  for (const cuda::DeviceModel &card : cuda::cards())
    for (cuda::ProductShape product :
         {shape(6272, 512, 1024), shape(1568, 2048, 512), shape(256, 2304, 6272),
          shape(6304, 1536, 384), shape(64, 1000, 2048)}) {
      cuda::GridDevice device = cuda::gridDeviceOf(card);
      cuda::ProductCut best = cutProduct(product, device);
      EXPECT_TRUE(hasRegistersFor(best, product)) << card.name;
      double chosen = secondsOf(product, best, device);
      for (const cuda::TileShape &tile : cuda::tileShapes())
        for (int64_t splits : {1, 2, 3, 5, 7, 8, 16, 32, 64, 128}) {
          cuda::ProductCut cut = cutDepth(tile, product.depth, splits);
          if (hasRegistersFor(cut, product)) {
            EXPECT_LE(chosen, secondsOf(product, cut, device))
                << card.name << " " << nameOf(tile) << " " << splits;
          }
        }
    }
}

// Waves: one block more than there are multiprocessors takes as long as twice as many.
TEST(MatrixProduct, WavesCostWholeOnes) {
  cuda::GridDevice device = cuda::gridDeviceOf(card("RTX 3060")); // 28
  auto seconds = [&](int64_t blocks) {
    return secondsOf(shape(blocks * 128, 128, 512),
                     cuda::cutDepth(cuda::tileShapes().front(), 512, 1), device);
  };
  EXPECT_EQ(seconds(1), seconds(28));
  EXPECT_GT(seconds(29), 1.9 * seconds(28));
  EXPECT_EQ(seconds(29), seconds(56));
}

// With TF32 a large product takes less time by as much as tensor cores are faster than f32, or
// shared memory feeds them: the A100's are 8 times as fast; the H100's, too, but a warp's 32 x 64
// sums get operands for 5.3; the 3090's are no faster; of sm_75 there are none.
TEST(MatrixProduct, Tf32IsPredictedAtTensorCoresRate) {
  cuda::ProductShape product = shape(8192, 8192, 8192);
  auto gain = [&](const char *name) {
    cuda::GridDevice f32 = cuda::gridDeviceOf(card(name)),
                     tf32 = cuda::gridDeviceOf(card(name), /*allowTf32=*/true);
    return secondsOf(product, cutProduct(product, f32), f32) /
           secondsOf(product, cutProduct(product, tf32), tf32);
  };
  EXPECT_NEAR(gain("A100 80 GB"), 8, 0.2);
  EXPECT_NEAR(gain("H100 80 GB"), 16. / 3, 0.2);
  EXPECT_NEAR(gain("RTX A6000"), 2, 0.05);
  EXPECT_EQ(gain("RTX 3090"), 1);
  EXPECT_EQ(gain("Tesla T4"), 1);
}

// A GPU at hand that is no card of the table has its architecture's rate where all cards have the
// same, else f32's.
TEST(DeviceModel, Tf32RateOfAGpuAtHand) {
  auto speedup = [](const char *name, const char *capability) {
    std::string reason;
    auto device = cuda::describedDevice(
        std::string(R"({"name": ")") + name + R"(", "compute_capability": ")" + capability +
            R"(", "total_memory_bytes": 1, "attributes": {"multiprocessor_count": 1,
            "max_shared_memory_per_block_optin": 1, "max_shared_memory_per_multiprocessor": 1,
            "reserved_shared_memory_per_block": 1, "max_threads_per_multiprocessor": 1,
            "max_blocks_per_multiprocessor": 1, "clock_rate_khz": 1, "memory_clock_rate_khz": 1,
            "global_memory_bus_width": 1, "l2_cache_size": 1}})",
        reason);
    EXPECT_TRUE(device) << reason;
    return device ? device->tf32Speedup() : 0;
  };
  EXPECT_EQ(speedup("NVIDIA RTX A6000", "8.6"), 2);
  EXPECT_EQ(speedup("NVIDIA A100-SXM4-80GB", "8.0"), 8);
  EXPECT_EQ(speedup("NVIDIA something else", "8.6"), 1);
  EXPECT_EQ(speedup("NVIDIA something else", "7.5"), 1);
}

// The same product for GPUs of 20 to 188 multiprocessors: cut differently, the same values.
TEST(MatrixProduct, EveryCardsCut) {
  Case c = product({}, 160, 96, 400, false, true);
  c.spec.bias = true;
  std::set<std::string> cuts;
  for (const cuda::DeviceModel &card : cuda::cards()) {
    cuda::ProductCut cut = cutProduct(cuda::matrixProduct(c.spec).shape(), gridDeviceOf(card));
    if (!cuts.insert(nameOf(cut.tile) + " " + std::to_string(cut.splits)).second)
      continue;
    SCOPED_TRACE(card.name);
    Outcome outcome = check(c, {}, Arithmetic::F32, card);
    EXPECT_EQ(outcome.launches.size(), cut.splits > 1 ? 2u : 1u);
  }
  EXPECT_GT(cuts.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::string signature(const std::vector<Tensor> &operands, const std::string &result) {
  std::string text = " : (";
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i ? ", " : "") + operands[i].type();
  return text + ") -> " + result;
}

// x W^T + bias + residual, whose bytes the result may take.
TEST(MatrixProductOps, Linear) {
  std::vector<Tensor> operands{Tensor::random({2, 3, 10}, 1), Tensor::random({7, 10}, 2),
                               Tensor::random({7}, 3), Tensor::random({2, 3, 7}, 4)};
  for (std::vector<int> aliases : {std::vector<int>{}, std::vector<int>{-1, -1, -1, 0}}) {
    Outcome outcome = runOp("%y = gc.linear %a0, %a1 bias %a2 residual %a3 activation = relu" +
                                signature(operands, typeOf({2, 3, 7})),
                            operands, {}, aliases);
    std::vector<Expected> expected;
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 7; ++j) {
        Expected sum;
        for (int64_t k = 0; k < 10; ++k)
          sum.add(double(operands[0][i * 10 + k]) * operands[1][j * 10 + k]);
        sum.add(operands[2][j]);
        sum.add(operands[3][i * 7 + j]);
        sum.value = std::max(0.0, sum.value);
        expected.push_back(sum);
      }
    expectSums(outcome.buffers[4].values, expected, "y");
  }
}

TEST(MatrixProductOps, LinearGradients) {
  std::vector<Tensor> operands{Tensor::random({6, 10}, 1), Tensor::random({6, 7}, 2)};
  std::vector<Expected> expected;
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 10; ++j) {
      Expected sum;
      for (int64_t k = 0; k < 6; ++k)
        sum.add(double(operands[1][k * 7 + i]) * operands[0][k * 10 + j]);
      expected.push_back(sum);
    }
  Outcome plain =
      runOp("%w = gc.linear_grad_weight %a0, %a1" + signature(operands, typeOf({7, 10})), operands);
  expectSums(plain.buffers[2].values, expected, "dW");

  // Into an accumulator.
  Tensor before = Tensor::random({7, 10}, 3);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i].add(before[i]);
  Outcome accumulated =
      runOp("gc.accumulate_product (%x = %a0 : tensor<6x10xf32>, %g = %a1 : tensor<6x7xf32>) into "
            "[@w] {\n%w = gc.linear_grad_weight %x, %g" +
                signature(operands, typeOf({7, 10})) + "\ngc.yield %w : tensor<7x10xf32>\n}",
            operands, {before}, {},
            "gc.state @w accumulator : tensor<7x10xf32> = #gc.init<constant, [0.0]>");
  expectSums(accumulated.buffers[2].values, expected, "accumulated dW");
}

} // namespace
