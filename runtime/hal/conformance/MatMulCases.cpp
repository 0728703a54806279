// Matrix products: strides, batches, broadcast, epilogues, accumulation.
#include "runtime/hal/conformance/Reference.h"
#include "runtime/hal/conformance/Runner.h"

namespace gc::runtime::conformance {
namespace {

using cpu::MatMulSpec;

size_t extent(const MatMulSpec &s, const std::vector<int64_t> &strides, int64_t rows,
              int64_t columns) {
  size_t dims = s.batch.size();
  int64_t last = (rows - 1) * strides[dims] + (columns - 1) * strides[dims + 1];
  for (size_t i = 0; i < dims; ++i)
    last += (s.batch[i] - 1) * strides[i];
  return static_cast<size_t>(last + 1);
}

/// Operands start `offset` elements into their buffers.
std::string check(const MatMulSpec &s, size_t offset, const Setup &setup) {
  size_t aSize = extent(s, s.a_strides, s.m, s.k) + offset;
  size_t bSize = extent(s, s.b_strides, s.k, s.n) + offset;
  size_t cSize = extent(s, s.c_strides, s.m, s.n) + offset;
  auto shape = [](size_t n) { return std::vector<int64_t>{static_cast<int64_t>(n)}; };
  SmallPlan plan;
  uint32_t a = plan.activation("a", shape(aSize)), b = plan.activation("b", shape(bSize));
  uint32_t c = plan.activation("c", shape(cSize)), bias = plan.activation("bias", {s.n});
  uint32_t residual = plan.activation("residual", shape(cSize));
  MatMulOperands operands{{a, offset},
                          {b, offset},
                          {c, offset},
                          s.bias ? static_cast<int32_t>(bias) : -1,
                          s.residual ? static_cast<int32_t>(residual) : -1};
  if (Status done = setup.lowering.matmul(plan, s, operands, setup.threads); !done)
    return done.error().message;
  Runner runner;
  if (Status ready = runner.prepare(plan, setup); !ready)
    return ready.error().message;
  auto aValues = randomFloats(aSize, 1), bValues = randomFloats(bSize, 2);
  auto cValues = randomFloats(cSize, 3), biasValues = randomFloats(static_cast<size_t>(s.n), 4);
  auto residualValues = randomFloats(cSize, 5);
  runner.write(a, aValues);
  runner.write(b, bValues);
  runner.write(c, cValues);
  runner.write(bias, biasValues);
  runner.write(residual, residualValues);
  if (Status done = runner.run(); !done)
    return done.error().message;
  if (!runner.executes())
    return "";
  if (uint64_t heap = runner.device().allocations().heap)
    return std::to_string(heap) + " heap allocations in the step";
  auto got = runner.read(c, cSize);
  runner.write(c, cValues);
  if (Status done = runner.run(); !done)
    return done.error().message;
  if (runner.read(c, cSize) != got)
    return "two executions differ";
  referenceMatMul(s, aValues, offset, bValues, offset, cValues, offset, biasValues, residualValues);
  return compare(got, cValues, s.k, "c");
}

MatMulSpec plain(int64_t m, int64_t n, int64_t k) {
  MatMulSpec s;
  s.m = m, s.n = n, s.k = k, s.a_strides = {k, 1}, s.b_strides = {n, 1}, s.c_strides = {n, 1};
  return s;
}

} // namespace

void addMatMulCases(std::vector<Case> &cases) {
  auto add = [&](const char *name, const MatMulSpec &spec, size_t offset = 0) {
    cases.push_back({std::string("matmul.") + name,
                     [spec, offset](const Setup &setup) { return check(spec, offset, setup); }});
  };
  add("plain", plain(33, 17, 29));
  add("one-by-one", plain(1, 1, 1));
  add("vector", plain(1, 40, 64));
  MatMulSpec s = plain(50, 24, 36);
  s.b_strides = {1, 36};
  add("b-transposed", s);
  s = plain(24, 36, 50);
  s.a_strides = {1, 24};
  add("a-transposed", s);
  s.accumulate = true;
  add("a-transposed-accumulate", s);
  s = plain(20, 48, 32);
  s.bias = true;
  for (plan::Activation activation :
       {plan::Activation_None, plan::Activation_Relu, plan::Activation_Gelu}) {
    s.activation = activation;
    s.residual = false;
    std::string name = activation == plan::Activation_None   ? "bias"
                       : activation == plan::Activation_Relu ? "bias-relu"
                                                             : "bias-gelu";
    add(name.c_str(), s);
    s.residual = true;
    add((name + "-residual").c_str(), s);
    s.accumulate = true;
    add((name + "-residual-accumulate").c_str(), s);
    s.accumulate = false;
    s.scale = 0.25f;
    add((name + "-residual-scale").c_str(), s);
    s.scale = 1.0f;
  }
  s = plain(20, 48, 32);
  s.c_strides = {64, 1}, s.a_strides = {40, 1};
  add("leading-dimensions", s, 8);
  s = plain(9, 10, 11);
  s.c_strides = {1, 9}; // a result in columns
  s.bias = s.residual = true;
  add("c-transposed", s);
  s = plain(9, 10, 11);
  s.a_strides = {60, 3};
  s.c_strides = {40, 2};
  add("no-unit-stride", s, 16);
  // Attention: q, k and v are slices of a packed [batch, tokens, 3 × width] tensor.
  const int64_t B = 2, H = 3, S = 13, d = 8, D = H * d, E = 3 * D;
  MatMulSpec qk;
  qk.batch = {B, H}, qk.m = S, qk.n = S, qk.k = d, qk.scale = 0.35f;
  qk.a_strides = {S * E, d, E, 1}, qk.b_strides = {S * E, d, 1, E};
  qk.c_strides = {H * S * S, S * S, S, 1};
  add("attention-scores", qk, D);
  MatMulSpec pv;
  pv.batch = {B, H}, pv.m = S, pv.n = d, pv.k = S;
  pv.a_strides = qk.c_strides, pv.b_strides = qk.a_strides, pv.c_strides = {S * D, d, D, 1};
  add("attention-values", pv, D);
  pv.a_strides = {H * S * S, S * S, 1, S};
  pv.b_strides = {S * D, d, D, 1}, pv.c_strides = qk.a_strides;
  pv.accumulate = true;
  add("attention-backward", pv, D);
  MatMulSpec shared;
  shared.batch = {3}, shared.m = 7, shared.n = 16, shared.k = 12;
  shared.a_strides = {84, 12, 1}, shared.b_strides = {0, 16, 1}, shared.c_strides = {112, 16, 1};
  add("broadcast-b", shared);
}

} // namespace gc::runtime::conformance
