// gc-bench-library [--filter=TEXT] [--threads=N] [--cpu-time]: time, speed, implementation,
// workspace and heap requests of each convolution and matrix product that our networks use.
// --cpu-time measures the calling thread's CPU time: with --threads=1 it is steady on a busy
// machine.
#include "runtime/hal/allocation/Allocation.h"
#include "runtime/hal/cpu/library/Library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <omp.h>

using namespace gc::runtime;
using namespace gc::runtime::cpu;

namespace {

clockid_t timer = CLOCK_MONOTONIC;

double now() {
  timespec t;
  clock_gettime(timer, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// 64-byte aligned floats in [-0.5, 0.5).
class Floats {
public:
  explicit Floats(size_t n)
      : data_(static_cast<float *>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64))) {
    for (size_t i = 0; i < n; ++i)
      data_[i] = static_cast<float>((i * 2654435761u >> 16) & 255) / 256.0f - 0.5f;
  }
  ~Floats() { std::free(data_); }
  Floats(const Floats &) = delete;
  operator float *() const { return data_; }

private:
  float *data_;
};

void measure(const char *name, const char *what, double flops, const std::string &implementation,
             size_t workspace, int pool, const std::function<Status()> &run) {
  if (Status first = run(); !first) {
    std::printf("%-14s %-10s failed: %s\n", name, what, first.error().message.c_str());
    return;
  }
  allocation::Counters before = allocation::counters();
  {
    allocation::StepScope step(pool);
    (void)run();
  }
  allocation::Counters after = allocation::counters();
  double best = 1e9, begin = now();
  for (int n = 0; n < 2 || (n < 20 && now() - begin < 0.15); ++n) {
    double t = now();
    (void)run();
    best = std::min(best, now() - t);
  }
  std::printf("%-14s %-10s %9.3f ms %6.0f GFLOP/s  workspace %9zu  heap %llu pool %llu  %s\n", name,
              what, best * 1e3, flops / best / 1e9, workspace,
              static_cast<unsigned long long>(after.heap - before.heap),
              static_cast<unsigned long long>(after.pool - before.pool), implementation.c_str());
  std::fflush(stdout);
}

struct Shape {
  const char *name;
  int64_t batch, in, inC, out, outC, kernel, stride, pad;
  bool data; // is the data gradient needed?
};

const Shape kShapes[] = {
    {"stem7x7/2", 16, 224, 3, 112, 64, 7, 2, 3, false},
    {"l1.1x1", 16, 56, 64, 56, 64, 1, 1, 0, true},
    {"l1.3x3", 16, 56, 64, 56, 64, 3, 1, 1, true},
    {"l1.expand", 16, 56, 64, 56, 256, 1, 1, 0, true},
    {"l1.reduce", 16, 56, 256, 56, 64, 1, 1, 0, true},
    {"l2.3x3/2", 16, 56, 128, 28, 128, 3, 2, 1, true},
    {"l2.1x1/2", 16, 56, 256, 28, 512, 1, 2, 0, true},
    {"l2.3x3", 16, 28, 128, 28, 128, 3, 1, 1, true},
    {"l3.3x3/2", 16, 28, 256, 14, 256, 3, 2, 1, true},
    {"l3.3x3", 16, 14, 256, 14, 256, 3, 1, 1, true},
    {"l3.expand", 16, 14, 256, 14, 1024, 1, 1, 0, true},
    {"l4.3x3/2", 16, 14, 512, 7, 512, 3, 2, 1, true},
    {"l4.1x1/2", 16, 14, 1024, 7, 2048, 1, 2, 0, true},
    {"l4.3x3", 16, 7, 512, 7, 512, 3, 1, 1, true},
    {"l4.reduce", 16, 7, 2048, 7, 512, 1, 1, 0, true},
    {"cnn.1-10", 16, 256, 1, 256, 10, 5, 1, 2, false},
    {"cnn.10-20", 16, 256, 10, 256, 20, 5, 1, 2, true},
    {"cnn.20-40", 16, 256, 20, 256, 40, 5, 1, 2, true},
    {"cnn.40-60", 16, 256, 40, 256, 60, 5, 1, 2, true},
    {"cnn.40-40", 16, 256, 40, 256, 40, 5, 1, 2, true},
    {"cnn.20-20", 16, 256, 20, 256, 20, 5, 1, 2, true},
    {"vgg.3-64", 4, 224, 3, 224, 64, 3, 1, 1, false},
    {"vgg.64-64", 4, 224, 64, 224, 64, 3, 1, 1, true},
    {"vgg.256", 4, 56, 256, 56, 256, 3, 1, 1, true},
    {"mnist.1-8", 128, 224, 1, 112, 8, 2, 2, 0, false},
    {"mnist.8-16", 128, 112, 8, 56, 16, 2, 2, 0, true},
    {"mnist.16-24", 128, 56, 16, 28, 24, 2, 2, 0, true},
    {"mnist.24-32", 128, 28, 24, 14, 32, 2, 2, 0, true},
    {"mnist.32-40", 128, 14, 32, 7, 40, 2, 2, 0, true},
    {"mnist.40-48", 128, 7, 40, 4, 48, 2, 2, 1, true},
    {"mnist.48-56", 128, 4, 48, 2, 56, 2, 2, 0, true},
    {"vit.patch", 16, 224, 3, 14, 384, 16, 16, 0, false},
};

void benchConvolution(const Shape &shape, int pool) {
  const char *names[] = {"forward", "data", "weights"};
  for (gc::plan::Direction direction :
       {gc::plan::Direction_Forward, gc::plan::Direction_BackwardData,
        gc::plan::Direction_BackwardWeights}) {
    if (direction == gc::plan::Direction_BackwardData && !shape.data)
      continue;
    ConvolutionSpec s;
    s.direction = direction;
    s.batch = shape.batch, s.in_h = s.in_w = shape.in, s.in_c = shape.inC;
    s.out_h = s.out_w = shape.out, s.out_c = shape.outC;
    s.kernel_h = s.kernel_w = shape.kernel, s.stride_h = s.stride_w = shape.stride;
    s.pad_h = s.pad_w = shape.pad;
    auto call = ConvolutionCall::create(s);
    const char *what = names[static_cast<int>(direction)];
    if (!call) {
      std::printf("%-14s %-10s %s\n", shape.name, what, call.error().message.c_str());
      continue;
    }
    (*call)->warmUp();
    size_t out = static_cast<size_t>(s.batch * s.out_h * s.out_w * s.out_c);
    size_t filter = static_cast<size_t>(s.kernel_h * s.kernel_w * s.in_c);
    Floats src(static_cast<size_t>(s.batch * s.in_h * s.in_w * s.in_c)), dst(out);
    Floats weights(filter * static_cast<size_t>(s.out_c)), workspace((*call)->workspaceBytes() / 4);
    ConvolutionPointers p{src, weights, dst, nullptr, nullptr, workspace};
    measure(shape.name, what, 2.0 * static_cast<double>(out * filter), (*call)->implementation(),
            (*call)->workspaceBytes(), pool, [&] { return (*call)->execute(p); });
  }
}

void benchMatMul(const char *name, const char *what, const MatMulSpec &s, int pool) {
  auto call = MatMulCall::create(s);
  if (!call) {
    std::printf("%-14s %-10s %s\n", name, what, call.error().message.c_str());
    return;
  }
  (*call)->warmUp();
  auto extent = [&](const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
    int64_t last = (rows - 1) * strides[strides.size() - 2] + (columns - 1) * strides.back();
    for (size_t i = 0; i < s.batch.size(); ++i)
      last += (s.batch[i] - 1) * strides[i];
    return static_cast<size_t>(last + 1);
  };
  Floats a(extent(s.a_strides, s.m, s.k)), b(extent(s.b_strides, s.k, s.n));
  Floats c(extent(s.c_strides, s.m, s.n)), residual(extent(s.c_strides, s.m, s.n));
  Floats bias(static_cast<size_t>(s.n)), workspace((*call)->workspaceBytes() / 4);
  double flops =
      2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  for (int64_t n : s.batch)
    flops *= static_cast<double>(n);
  MatMulPointers p{a, b, c, bias, residual, workspace};
  measure(name, what, flops, (*call)->implementation(), (*call)->workspaceBytes(), pool,
          [&] { return (*call)->execute(p); });
}

void benchLinear(const char *name, int64_t m, int64_t n, int64_t k, int pool) {
  MatMulSpec s;
  s.m = m, s.n = n, s.k = k, s.a_strides = {k, 1}, s.b_strides = {1, k}, s.c_strides = {n, 1};
  benchMatMul(name, "forward", s, pool);
  s.bias = true;
  s.residual = true;
  benchMatMul(name, "+residual", s, pool);
  s.residual = false;
  s.activation = gc::plan::Activation_Gelu;
  benchMatMul(name, "+gelu", s, pool);
  MatMulSpec d;
  d.m = m, d.n = k, d.k = n, d.a_strides = {n, 1}, d.b_strides = {k, 1}, d.c_strides = {k, 1};
  benchMatMul(name, "data", d, pool);
  MatMulSpec w;
  w.m = n, w.n = k, w.k = m, w.a_strides = {1, n}, w.b_strides = {k, 1}, w.c_strides = {k, 1};
  benchMatMul(name, "weights", w, pool);
}

void benchAttention(int pool) {
  const int64_t B = 16, H = 6, S = 197, d = 64, D = H * d, E = 3 * D;
  std::vector<int64_t> packed = {S * E, d, E, 1}, packedT = {S * E, d, 1, E};
  std::vector<int64_t> scores = {H * S * S, S * S, S, 1}, scoresT = {H * S * S, S * S, 1, S};
  std::vector<int64_t> out = {S * D, d, D, 1}, outT = {S * D, d, 1, D};
  auto spec = [&](int64_t m, int64_t n, int64_t k, const auto &a, const auto &b, const auto &c) {
    MatMulSpec s;
    s.batch = {B, H}, s.m = m, s.n = n, s.k = k, s.a_strides = a, s.b_strides = b, s.c_strides = c;
    return s;
  };
  MatMulSpec qk = spec(S, S, d, packed, packedT, scores);
  qk.scale = 0.125f;
  benchMatMul("attention", "q*kT", qk, pool);
  benchMatMul("attention", "p*v", spec(S, d, S, scores, packed, out), pool);
  benchMatMul("attention", "pT*do", spec(S, d, S, scoresT, out, packed), pool);
  benchMatMul("attention", "do*vT", spec(S, S, d, out, packedT, scores), pool);
  benchMatMul("attention", "ds*k", spec(S, d, S, scores, packed, packed), pool);
  benchMatMul("attention", "dsT*q", spec(S, d, S, scoresT, packed, packed), pool);
}

} // namespace

int main(int argc, char **argv) {
  const char *filter = "";
  for (int i = 1; i < argc; ++i) {
    if (!std::strncmp(argv[i], "--filter=", 9))
      filter = argv[i] + 9;
    else if (!std::strncmp(argv[i], "--threads=", 10) && std::strtol(argv[i] + 10, nullptr, 10) > 0)
      omp_set_num_threads(static_cast<int>(std::strtol(argv[i] + 10, nullptr, 10)));
    else if (!std::strcmp(argv[i], "--cpu-time"))
      timer = CLOCK_THREAD_CPUTIME_ID;
    else {
      bool help = !std::strcmp(argv[i], "--help");
      std::fprintf(help ? stdout : stderr,
                   "usage: gc-bench-library [--filter=TEXT] [--threads=N] [--cpu-time]\n");
      return help ? 0 : 2;
    }
  }
#pragma omp parallel
  allocation::markExecutingThread();
  Floats memory(kTransientPoolBytes / 4);
  int pool = allocation::addPool(memory, kTransientPoolBytes);
  std::printf("%s, %d threads\n", libraryVersion().c_str(), omp_get_max_threads());
  auto wanted = [&](const char *name) { return std::strstr(name, filter) != nullptr; };
  for (const Shape &shape : kShapes)
    if (wanted(shape.name))
      benchConvolution(shape, pool);
  const int64_t tokens = 16 * 197;
  for (auto [name, n, k] : {std::tuple<const char *, int64_t, int64_t>{"vit.qkv", 1152, 384},
                            {"vit.proj", 384, 384},
                            {"vit.fc1", 1536, 384},
                            {"vit.fc2", 384, 1536}})
    if (wanted(name))
      benchLinear(name, tokens, n, k, pool);
  if (wanted("resnet.fc"))
    benchLinear("resnet.fc", 16, 1000, 2048, pool);
  if (wanted("cnn.fc1"))
    benchLinear("cnn.fc1", 16, 32, 128 * 128 * 20, pool);
  if (wanted("attention"))
    benchAttention(pool);
  std::printf("transient pool: %zu of %zu bytes\n", allocation::poolPeakBytes(pool),
              kTransientPoolBytes);
  if (!allocation::removePool(pool)) {
    std::printf("the library kept transient memory\n");
    std::fflush(stdout);
    std::_Exit(1); // the pool's memory must not be freed now
  }
  return 0;
}
