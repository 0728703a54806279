#include "test/emulator/driver/DriverUnderTest.h"

namespace gc::emulator {

const char *const vectorAdd = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.u32 %rd4, %r5, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}
)";

const char *const blockSum = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 in, .param .u64 out)
{
  .shared .align 4 .b8 partial[1024];
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.s32 %r3, %r2, 256, %r1;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  shl.b32 %r4, %r1, 2;
  mov.u32 %r5, partial;
  add.s32 %r6, %r5, %r4;
  st.shared.f32 [%r6], %f1;
  mov.u32 %r7, 128;
loop:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, %r7;
  @%p1 bra skip;
  shl.b32 %r8, %r7, 2;
  add.s32 %r9, %r6, %r8;
  ld.shared.f32 %f1, [%r6];
  ld.shared.f32 %f2, [%r9];
  add.rn.f32 %f3, %f1, %f2;
  st.shared.f32 [%r6], %f3;
skip:
  shr.u32 %r7, %r7, 1;
  setp.ne.u32 %p2, %r7, 0;
  @%p2 bra loop;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  ld.shared.f32 %f1, [partial];
  mul.wide.u32 %rd5, %r2, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f1;
done:
  ret;
}
)";

const char *const sharedRacing = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry race(.param .u64 out)
{
  .shared .align 4 .b8 slots[512];
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, slots;
  add.s32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  ld.shared.u32 %r5, [slots];
  cvt.u64.u32 %rd2, %r2;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}
)";

const char *const dynamicShared = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry dynamic(.param .u64 out, .param .u32 last)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [last];
  mov.u32 %r2, room;
  add.s32 %r3, %r2, %r1;
  st.shared.u32 [%r3], %r1;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%rd1], %r4;
  ret;
}
)";

const char *const misbehaving = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry trapping()
{
  trap;
  ret;
}
.visible .entry misaligned(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  add.s64 %rd2, %rd1, 2;
  mov.u32 %r1, 7;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry divergent()
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra other;
  bar.sync 0;
  ret;
other:
  bar.sync 1;
  ret;
}
.visible .entry small()
.maxntid 64, 1, 1
{
  ret;
}
.visible .entry exact()
.reqntid 32, 1, 1
{
  ret;
}
)";

} // namespace gc::emulator
