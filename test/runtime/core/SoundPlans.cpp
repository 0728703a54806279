#include "test/runtime/core/SoundPlans.h"

using namespace gc::runtime;
using conformance::SmallPlan;
using gc::plan::View;

namespace gc::test {

cpu::ConvolutionSpec smallConvolution() {
  cpu::ConvolutionSpec s;
  s.batch = 1, s.in_h = s.in_w = s.out_h = s.out_w = 4, s.in_c = 2, s.out_c = 3;
  s.kernel_h = s.kernel_w = 3, s.pad_h = s.pad_w = 1;
  return s;
}

cpu::MatMulSpec smallMatMul() {
  cpu::MatMulSpec s;
  s.m = 4, s.n = 5, s.k = 6, s.a_strides = {6, 1}, s.b_strides = {5, 1}, s.c_strides = {5, 1};
  return s;
}

std::vector<std::byte> soundPlan() {
  SmallPlan p;
  uint32_t x = p.buffer("x", gc::plan::BufferKind_Input, {1, 4, 4, 2});
  uint32_t w = p.buffer("w", gc::plan::BufferKind_Parameter, {3, 3, 3, 2});
  uint32_t y = p.activation("y", {1, 4, 4, 3});
  uint32_t a = p.activation("a", {4, 6}), b = p.activation("b", {6, 5}),
           c = p.activation("c", {4, 5});
  p.input("x", {x});
  p.variable("w", w, {3, 2, 3, 3}, {3, 2, 3, 3}, {0, 2, 3, 1});
  p.kernels(conformance::kernelObject().first(128), {"k"});
  p.convolution(smallConvolution(), x, w, y, -1, -1, p.workspace(4096));
  p.matmul(smallMatMul(), {a, 0}, {b, 0}, {c, 0}, -1, -1, -1);
  p.dispatch(0, {a, b}, 4, 1);
  p.fill(a, 0);
  p.copy({a, 0}, {b, 0}, 96);
  p.loss = static_cast<int32_t>(c);
  return p.finish();
}

std::vector<std::byte> soundCudaPlan(bool cubin) {
  SmallPlan p;
  p.device = "cuda", p.architecture = "sm_80";
  uint32_t a = p.activation("a", {16}), b = p.activation("b", {16});
  std::vector<uint8_t> elf(conformance::kernelObject().begin(), conformance::kernelObject().end());
  if (!cubin)
    elf.clear();
  p.image(".version 7.0", {"k", "l"}, elf);
  p.image(".version 7.0", {"m"});
  p.launch(2, {a, b}, {7, 65535, 1}, {32, 32, 1}, 49152);
  uint32_t graph = p.graph("product", "{}", 128);
  p.graphCall(graph, {1, 2}, {View(a, 0), View(b, 15)}, {{3, 0.5f}}, p.workspace(128));
  return p.finish();
}

} // namespace gc::test
