#include "runtime/hal/conformance/Lowering.h"

#include "runtime/hal/conformance/Runner.h"

namespace gc::runtime::conformance {

void CpuLowering::target(SmallPlan &plan) const { plan.device = "cpu"; }

Status CpuLowering::convolution(SmallPlan &plan, const cpu::ConvolutionSpec &spec,
                                const ConvolutionOperands &o, int threads) const {
  auto bytes = cpu::workspaceBytes(spec, threads);
  if (!bytes)
    return bytes.error();
  int32_t workspace = plan.workspace(*bytes);
  plan.transients();
  plan.convolution(spec, o.src, o.weights, o.dst, o.bias, o.residual, workspace);
  return {};
}

Status CpuLowering::matmul(SmallPlan &plan, const cpu::MatMulSpec &spec, const MatMulOperands &o,
                           int threads) const {
  auto bytes = cpu::workspaceBytes(spec, threads);
  if (!bytes)
    return bytes.error();
  int32_t workspace = plan.workspace(*bytes);
  plan.transients();
  plan.matmul(spec, o.a, o.b, o.c, o.bias, o.residual, workspace);
  return {};
}

void CpuLowering::affine(SmallPlan &plan, uint32_t in, uint32_t out, int64_t items, uint64_t grain,
                         const std::string &symbol) const {
  plan.kernels(kernelObject(), {symbol});
  plan.dispatch(0, {in, out}, static_cast<uint64_t>(items), grain);
}

void CpuLowering::damagedAffine(SmallPlan &plan, uint32_t in, uint32_t out) const {
  std::vector<uint8_t> garbage(100, 7);
  plan.kernels(garbage, {kAffine});
  plan.dispatch(0, {in, out}, 16, 1);
}

std::string CpuLowering::otherMachine(SmallPlan &plan) const {
  return plan.libraryVersion = "oneDNN 0.0.1";
}

std::string affinePtx(int64_t items) {
  // One thread an item; the threads beyond the last do nothing.
  return R"(.version 6.0
.target sm_50
.address_size 64

.visible .entry conformance_affine(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p1, %r4, )" +
         std::to_string(items) + R"(;
  @%p1 bra DONE;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mul.wide.u32 %d3, %r4, 4;
  add.s64 %d4, %d1, %d3;
  add.s64 %d5, %d2, %d3;
  ld.global.f32 %f1, [%d4];
  cvt.rn.f32.u32 %f2, %r4;
  fma.rn.f32 %f3, %f1, 0f40000000, %f2;
  st.global.f32 [%d5], %f3;
DONE:
  ret;
}
)";
}

void PtxLowering::target(SmallPlan &plan) const {
  plan.device = "cuda";
  plan.architecture = "sm_50";
}

static Error noCompiler() {
  return runFailed("products on a GPU need a compiler, which this suite was not given");
}
Status PtxLowering::convolution(SmallPlan &, const cpu::ConvolutionSpec &,
                                const ConvolutionOperands &, int) const {
  return noCompiler();
}
Status PtxLowering::matmul(SmallPlan &, const cpu::MatMulSpec &, const MatMulOperands &,
                           int) const {
  return noCompiler();
}

void PtxLowering::affine(SmallPlan &plan, uint32_t in, uint32_t out, int64_t items, uint64_t,
                         const std::string &symbol) const {
  constexpr uint32_t kBlock = 128;
  plan.image(affinePtx(items), {symbol});
  plan.launch(0, {in, out}, {static_cast<uint32_t>((items + kBlock - 1) / kBlock), 1, 1},
              {kBlock, 1, 1});
}

void PtxLowering::damagedAffine(SmallPlan &plan, uint32_t in, uint32_t out) const {
  plan.image("this is no PTX", {kAffine});
  plan.launch(0, {in, out}, {1, 1, 1}, {16, 1, 1});
}

std::string PtxLowering::otherMachine(SmallPlan &plan) const {
  affine(plan, plan.activation("in", {16}), plan.activation("out", {16}), 16, 1, kAffine);
  return plan.architecture = "sm_990";
}

const Lowering &loweringFor(const std::string &device) {
  static const CpuLowering cpu;
  static const PtxLowering ptx;
  if (device.substr(0, device.find(':')) == "cuda")
    return ptx;
  return cpu;
}

} // namespace gc::runtime::conformance
