// What is accepted, what is refused, and what a module says about itself.
#include "test/emulator/ptx/TestKernel.h"

using namespace gc::emulator::ptx;

namespace {

/// The message of the ParseError that a kernel with this body gives, or "".
std::string refusal(const std::string &body, size_t *line = nullptr) {
  TestMemory memory;
  try {
    Module::parse(kernelText(body, 1), memory);
    return "";
  } catch (const ParseError &error) {
    if (line)
      *line = error.line;
    return error.what();
  }
}

TEST(Parse, UnknownThingsAreRefusedByName) {
  size_t line = 0;
  std::string what = refusal("add.u32 %r0, %t, 1;\nfrobnicate.u32 %r0, %t;", &line);
  EXPECT_NE(what.find("'frobnicate.u32'"), what.npos) << what;
  EXPECT_NE(what.find("line " + std::to_string(line)), what.npos) << what;
  for (const char *body :
       {"add.rn.u32 %r0, %t, 1;",
        "add.f32.rn %f0, %f1, %f2;",
        "fma.f32 %f0, %f1, %f2, %f3;",
        "mul.u32 %r0, %t, 2;",
        "ld.global.v3.u32 {%r0, %r1, %r2}, [%a0];",
        "ld.texture.u32 %r0, [%a0];",
        "cvt.f32.f64 %f0, %e0;",
        "cvt.s32.f32 %r0, %f0;",
        "cvt.rna.f32.f64 %f0, %e0;",
        "cvt.rn.tf32.f32 %r0, %f0;",
        "setp.ltu.u32 %p0, %t, 1;",
        "setp.lt.b32 %p0, %t, 1;",
        "shfl.down.b32 %r0, %t, 1, 31;",
        "shfl.sync.spin.b32 %r0, %t, 1, 31, -1;",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0}, {%r0}, {%r1}, {%f1};",
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, "
        "{%r2}, {%f0, %f1, %f2, %f3};",
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, "
        "{%r2}, {%f0, %f1, %f2, %f3};",
        "cp.async.ca.shared.global [%a0], [%a0], 4;",
        "tex.2d.v4.f32.f32 {%f0}, [%a0];",
        "atom.global.frob.u32 %r0, [%a0], 1;",
        "red.global.exch.b32 [%a0], 1;",
        "add.cc.u32 %r0, %t, 1;",
        "mov.u32 %r0, %clock;",
        "mov.u32 %r0, %nothing;",
        "mov.u32 %d0, 1;",
        "add.u32 %r0, %t;",
        "add.u32 %r0, %t, 1, 2;",
        "add.u16 %h0, %h1, 70000;",
        "add.f32 %f0, %f1, 1;",
        "bra nowhere;",
        "@%r0 add.u32 %r0, %t, 1;",
        "ld.global.u32 %h0, [%a0];",
        "ld.shared.u32 %r0, [p0];",
        "call nothing;",
        "ld.global.u32 %r0, %a0;",
        ".reg .b128 %x;",
        "add.u32 %r0, !%t, 1;",
        "ex2.f32 %f0, %f1;",
        "mov.u32 %r0, ;",
        "add.u32 %r0, %t, 1"})
    EXPECT_NE(refusal(body), "") << body;
  EXPECT_EQ(refusal("add.u32 %r0, %t, 1;"), "");
}

TEST(Parse, TextThatIsNotPtx) {
  TestMemory memory;
  for (std::string text : {std::string("hello"), std::string(), header() + ".visible .entry k( {",
                           header() + ".entry k() { ret;", header() + ".entry k() { ret; } }",
                           std::string(".version 7.0\n.target sm_80\n.address_size 32\n"),
                           header() + ".entry k() .maxclusterrank 8 { ret; }",
                           header() + "/* no end", header() + ".entry k() { x: x: ret; }",
                           header() + ".tex .u64 t;", header() + ".extern .global .u32 elsewhere;",
                           header() + ".entry k() { ret; } .entry k() { ret; }"})
    EXPECT_THROW(Module::parse(text, memory), ParseError) << text;
}

TEST(Parse, ModuleAndKernelInformation) {
  TestMemory memory;
  auto module = Module::parse(header("sm_90") + R"(
    .file 1 "somewhere.cu"
    .visible .entry first(.param .u32 a, .param .u64 .ptr .global .align 16 b, .param .u8 c,
                          .param .align 8 .b8 d[20]) .maxntid 16, 8, 1 .minnctapersm 2
    {
      .loc 1 2 3
      .pragma "nounroll";
      .reg .b32 %r<3>;
      .shared .align 16 .b8 tile[100];
      .shared .f32 more[3];
      .local .align 8 .b8 depot[24];
      mov.u32 %r1, tile;
      ret;
    }
    .weak .entry second() { ret; }
    .section .debug_str { $L: .b8 0 })",
                              memory);
  EXPECT_EQ(module->target(), "sm_90");
  EXPECT_EQ(module->version(), "7.8");
  EXPECT_EQ(module->kernels().size(), 2u);
  const KernelInfo *first = module->find("first");
  ASSERT_TRUE(first);
  ASSERT_EQ(first->parameters.size(), 4u);
  EXPECT_EQ(first->parameters[1].offset, 8u);
  EXPECT_EQ(first->parameters[2].offset, 16u);
  EXPECT_EQ(first->parameters[3].offset, 24u);
  EXPECT_EQ(first->parameters[3].bytes, 20u);
  EXPECT_EQ(first->parameterBytes, 44u);
  EXPECT_EQ(first->staticSharedBytes, 112u); // 100 and 12, aligned to 4
  EXPECT_EQ(first->localBytes, 24u);
  EXPECT_EQ(first->maxThreads, 128u);
  EXPECT_FALSE(module->find("third"));
}

TEST(Parse, VariablesHaveTheirValues) {
  TestMemory memory;
  uint64_t out = memory.allocate(64, 256);
  std::string variables =
      ".global .align 4 .b8 bytes[8] = {1, 2, 3, 4, 5};\n"
      ".const .align 8 .f32 table[3] = {0f3F800000, 2.5};\n"
      ".global .u64 pointer = bytes;\n.global .align 4 .u32 matrix[2][2] = {{1, 2}, {3, 4}};\n";
  runBody(
      memory,
      "ld.global.u32 %r0, [bytes];\nst.global.u32 [%a0], %r0;\nld.const.f32 %f0, [table+4];\n"
      "st.global.f32 [%a0+4], %f0;\nld.global.u64 %d0, [pointer];\nld.global.u8 %r1, [%d0+4];\n"
      "st.global.u32 [%a0+8], %r1;\nmov.u64 %d1, matrix;\nld.global.u32 %r2, [%d1+12];\n"
      "st.global.u32 [%a0+12], %r2;\nld.const.f32 %f1, [table+8];\nst.global.f32 [%a0+16], %f1;\n",
      {out}, {1}, 0, nullptr, variables);
  EXPECT_EQ(memory.download<uint32_t>(out, 5),
            (std::vector<uint32_t>{0x04030201, 0x40200000, 5, 4, 0}));
}

TEST(Parse, CallsAreExpanded) {
  TestMemory memory;
  uint64_t out = memory.allocate(32 * 4, 256);
  // Two calls of a function with a loop and an early return that lanes take differently.
  std::string function = R"(
    .func (.param .b32 result) power(.param .b32 base, .param .b32 times) {
      .reg .b32 %r<5>; .reg .pred %p<2>;
      ld.param.u32 %r1, [base]; ld.param.u32 %r2, [times];
      mov.u32 %r3, 1;
      setp.eq.u32 %p1, %r2, 0;
      st.param.u32 [result+0], %r3;
      @%p1 ret;
      again: mul.lo.u32 %r3, %r3, %r1; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;
      st.param.u32 [result+0], %r3;
      ret;
    })";
  auto call = [](const std::string &base, const std::string &times, const std::string &result) {
    return "{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.u32 [x], " + base +
           "; st.param.u32 [y], " + times + ";\ncall.uni (z), power, (x, y); ld.param.u32 " +
           result + ", [z]; }\n";
  };
  runBody(memory,
          "and.b32 %r1, %t, 7;\n" + call("3", "%r1", "%r2") + call("%r2", "2", "%r3") +
              "mul.wide.u32 %d0, %t, 4;\nadd.u64 %d0, %d0, %a0;\nbar.sync 0;\nst.global.u32 [%d0], "
              "%r3;\n",
          {out}, {32}, 0, nullptr, function);
  auto got = memory.download<uint32_t>(out, 32);
  uint32_t want[] = {1, 9, 81, 729, 6561, 59049, 531441, 4782969};
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], want[i % 8]);
}

TEST(Parse, RecursionAndMissingFunctionsAreRefused) {
  TestMemory memory;
  std::string recursive = ".func f() { call f; ret; }\n", missing = ".extern .func f();\n";
  EXPECT_THROW(Module::parse(kernelText("call f;", 0, recursive), memory), ParseError);
  EXPECT_THROW(Module::parse(kernelText("call f;", 0, missing), memory), ParseError);
  EXPECT_NO_THROW(Module::parse(kernelText("call f;", 0, ".func f() { ret; }\n"), memory));
}

TEST(Parse, ScopesHideNamesAndLabels) {
  TestMemory memory;
  uint64_t out = memory.allocate(4, 256);
  runBody(memory,
          "mov.u32 %r0, 1;\n{ .reg .b32 %r<2>; mov.u32 %r0, 5; bra inner; inner: }\n"
          "{ bra inner; mov.u32 %r0, 7; inner: }\nst.global.u32 [%a0], %r0;\n",
          {out}, {1});
  EXPECT_EQ(memory.download<uint32_t>(out, 1)[0], 1u);
}

} // namespace
