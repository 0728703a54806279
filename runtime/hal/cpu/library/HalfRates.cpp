#include "runtime/hal/cpu/library/HalfRates.h"
#include "runtime/hal/cpu/library/Primitive.h"

#include <algorithm>
#include <chrono>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gc::runtime::cpu {
namespace {

using dnnl::memory;

struct Instructions {
  bool vectors = false; // vdpbf16ps
  bool tiles = false;   // tdpbf16ps
  bool describesTiles = false;
};

Instructions instructionsOfCpu() {
  Instructions found;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
    found.vectors = a >> 5 & 1;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
    found.tiles = d >> 22 & 1;
  if (__get_cpuid_count(0x1d, 0, &a, &b, &c, &d))
    found.describesTiles = a != 0; // the highest palette
#endif
  return found;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The best of a few executions.
double measure(memory::data_type type) {
  constexpr int64_t n = 512;
  memory::desc matrix({n, n}, type, memory::format_tag::ab);
  dnnl::matmul::primitive_desc pd({matrix, matrix, matrix}, engine());
  if (isReference(pd.impl_info_str()))
    return 0;
  dnnl::matmul product(pd);
  dnnl::stream stream(engine());
  memory a(matrix, engine()), b(matrix, engine()), c(matrix, engine());
  for (const memory &factor : {a, b})
    std::fill_n(static_cast<char *>(factor.get_data_handle()), matrix.get_size(), char{0});
  double best = 1e9;
  for (int i = 0; i < 6; ++i) {
    double begin = seconds();
    product.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
    best = std::min(best, seconds() - begin);
  }
  return 2.0 * n * n * n / best;
}

} // namespace

void limitInstructions() {
  Instructions cpu = instructionsOfCpu();
  if (cpu.tiles && !cpu.describesTiles)
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
}

const HalfRates &halfRates() {
  static const HalfRates rates = [] {
    HalfRates measured;
    Instructions cpu = instructionsOfCpu();
    if (!cpu.vectors && !(cpu.tiles && cpu.describesTiles))
      return measured;
    Status done = guarded("measured product", [&] {
      measured.f32 = measure(memory::data_type::f32);
      measured.bf16 = measure(memory::data_type::bf16);
    });
    return done ? measured : HalfRates();
  }();
  return rates;
}

} // namespace gc::runtime::cpu
