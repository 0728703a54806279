// How fast the interpreter is on an inner loop of fused multiply-adds, as tiled matrix products
// have it: gc-ptx-speed [seconds]
#include "test/emulator/ptx/TestDevice.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace gc::emulator::ptx;

/// Per round: one vector load and two scalar loads from shared memory, 32 fma, and the loop.
static std::string kernel() {
  std::string text = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry speed(.param .u64 out, .param .u32 rounds)
{
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
.reg .f32 %f<64>;
.shared .align 16 .b8 tile[4096];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd1, %r1, 16;
mov.u64 %rd2, tile;
add.s64 %rd3, %rd2, %rd1;
cvt.rn.f32.u32 %f1, %r1;
st.shared.v4.f32 [%rd3], {%f1, %f1, %f1, %f1};
ld.param.u32 %r2, [rounds];
ld.param.u64 %rd4, [out];
bar.sync 0;
)";
  auto f = [](int i) { return "%f" + std::to_string(i); };
  for (int i = 0; i < 32; ++i)
    text += "mov.f32 " + f(16 + i) + ", 0f00000000;\n";
  text += "loop:\nld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];\n"
          "ld.shared.f32 %f5, [tile+64];\nld.shared.f32 %f6, [tile+128];\n";
  for (int i = 0; i < 32; ++i)
    text += "fma.rn.f32 " + f(16 + i) + ", " + f(1 + i % 4) + ", " + f(5 + i % 2) + ", " +
            f(16 + i) + ";\n";
  text += "sub.s32 %r2, %r2, 1;\nsetp.ne.s32 %p1, %r2, 0;\n@%p1 bra loop;\n";
  for (int i = 1; i < 32; ++i)
    text += "add.f32 %f16, %f16, " + f(16 + i) + ";\n";
  return text + "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
                "st.global.f32 [%rd6], %f16;\nret;\n}\n";
}

int main(int argc, char **argv) {
  double wanted = argc > 1 ? std::atof(argv[1]) : 1;
  TestMemory memory;
  auto module = Module::parse(kernel(), memory);
  uint64_t out = memory.allocate(256 * 4, 256);
  auto parameters = pack(out, uint32_t(2000));
  Launch launch{.grid = {1}, .block = {256}, .parameters = parameters};
  Statistics once;
  run(*module, "speed", launch, memory, &once); // counting costs time, so the rest does not
  uint64_t launches = 0;
  std::clock_t begin = std::clock();
  double seconds = 0;
  for (; seconds < wanted; ++launches) {
    run(*module, "speed", launch, memory);
    seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::printf("%.0f million thread instructions per second of one core\n",
              double(launches * once.instructions) / seconds / 1e6);
}
