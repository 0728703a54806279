// PTX as LLVM's backend writes it, for several targets: CompiledKernels.ll through llc.
#include "test/emulator/ptx/TestKernel.h"

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

using namespace gc::emulator::ptx;

namespace {

class CompiledTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::ifstream file(std::string(GC_PTX_KERNELS) + "/" + GetParam() + ".ptx");
    ASSERT_TRUE(file) << "llc did not write the kernels";
    std::stringstream text;
    text << file.rdbuf();
    module = Module::parse(text.str(), memory);
    EXPECT_EQ(module->target(), GetParam());
  }
  void launch(const char *kernel, Dim3 grid, Dim3 block, const std::vector<std::byte> &parameters) {
    run(*module, kernel, {.grid = grid, .block = block, .parameters = parameters}, memory);
  }
  TestMemory memory;
  std::unique_ptr<Module> module;
};

INSTANTIATE_TEST_SUITE_P(Targets, CompiledTest,
                         testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100",
                                         "sm_120"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(CompiledTest, VectorsOfFour) {
  std::vector<float> x(100), y(100);
  std::iota(x.begin(), x.end(), 1.0f);
  std::iota(y.begin(), y.end(), 50.0f);
  uint64_t dx = memory.upload(x), dy = memory.upload(y);
  launch("saxpy", {2}, {32}, pack(dx, dy, 0.3f, 100));
  auto got = memory.download<float>(dy, 100);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(got[i], std::fma(0.3f, x[i], y[i]));
}

TEST_P(CompiledTest, TiledMatrixProductOfOddSizes) {
  int m = 19, n = 37, k = 23;
  std::vector<float> a(m * k), b(k * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = std::sin(float(i));
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = std::cos(float(i));
  uint64_t da = memory.upload(a), db = memory.upload(b), dc = memory.allocate(m * n * 4, 256);
  launch("matmul", {3, 2}, {16, 16}, pack(da, db, dc, m, n, k));
  auto got = memory.download<float>(dc, m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float want = 0; // the same order of fused operations: the same bits
      for (int l = 0; l < k; ++l)
        want = std::fma(a[i * k + l], b[l * n + j], want);
      EXPECT_EQ(got[i * n + j], want) << i << " " << j;
    }
}

TEST_P(CompiledTest, SumWithShufflesAndAtomics) {
  std::vector<float> x(1000, 1.0f);
  uint64_t dx = memory.upload(x), out = memory.upload(std::vector<float>{0.5f});
  launch("sum", {8}, {128}, pack(dx, out, 1000));
  EXPECT_EQ(memory.download<float>(out, 1)[0], 1000.5f);
}

TEST_P(CompiledTest, CallsStacksJumpTablesHalves) {
  std::vector<float> x(64);
  std::vector<uint16_t> halves(64, 0x4200); // 3
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0.75f * float(i) + 0.3f;
  uint64_t dx = memory.upload(x), out = memory.allocate(256, 256), dh = memory.upload(halves);
  launch("mixed", {1}, {64}, pack(dx, out, dh));
  auto got = memory.download<float>(out, 64);
  for (int i = 0; i < 64; ++i) {
    float v = x[i], poly = std::fma(v, 2.0f, v), r;
    switch (i & 7) {
    case 0:
      r = std::sqrt(v);
      break;
    case 1:
      r = float(double(v) / 3.0);
      break;
    case 2:
      r = float(int(v));
      break;
    case 3:
      r = std::fmax(v, 5.0f);
      break;
    case 4:
      r = float(std::popcount(std::bit_cast<uint32_t>(v)));
      break;
    default:
      r = float(1 << (i & 3));
    }
    EXPECT_EQ(got[i], r + poly) << i;
  }
  EXPECT_EQ(memory.download<uint16_t>(dh, 64), std::vector<uint16_t>(64, 0x4900)); // 10
}

} // namespace
