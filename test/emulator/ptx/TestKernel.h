//===- TestKernel.h - run a few PTX instructions on many values ------------===//
#pragma once

#include "test/emulator/ptx/TestDevice.h"

#include <gtest/gtest.h>

namespace gc::emulator::ptx {

inline std::string header(const std::string &target = "sm_80") {
  return ".version 7.8\n.target " + target + "\n.address_size 64\n";
}

/// A kernel `test` with parameters `p0`, `p1`, … (64 bits each), registers of all kinds, the index
/// of the thread in %t and, for every parameter, %p0 … as addresses.
inline std::string kernelText(const std::string &body, int parameters,
                              const std::string &moduleText = "") {
  std::string text = header() + moduleText + "\n.visible .entry test(";
  for (int i = 0; i < parameters; ++i)
    text += (i ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
  text += ")\n{\n.reg .pred %p<16>, %q<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>, %t;\n"
          ".reg .b64 %d<64>, %a<16>;\n.reg .f32 %f<64>;\n.reg .f64 %e<32>;\n"
          "mov.u32 %r60, %ctaid.x;\nmov.u32 %r61, %ntid.x;\nmov.u32 %r62, %tid.x;\n"
          "mad.lo.u32 %t, %r60, %r61, %r62;\n";
  for (int i = 0; i < parameters; ++i)
    text += "ld.param.u64 %a" + std::to_string(i) + ", [p" + std::to_string(i) + "];\n";
  return text + body + "\nret;\n}\n";
}

/// The PTX name of the bits of T.
template <class T> std::string bitsName() { return "b" + std::to_string(8 * sizeof(T)); }
template <class T> std::string registerName(int i) {
  return (sizeof(T) == 8 ? "%d" : sizeof(T) == 4 ? "%r" : "%h") + std::to_string(i);
}

/// Evaluates `instruction` for every element of the inputs, one thread each: $0 is the result, $1,
/// $2, … are the inputs, all in registers of the width of their C++ types. Text may be several
/// lines.
template <class Out, class... In>
std::vector<Out> evaluate(std::string instruction, const std::vector<In> &...inputs) {
  size_t count = 0;
  ((count = inputs.size()), ...);
  TestMemory memory;
  std::vector<uint64_t> addresses{memory.allocate(count * sizeof(Out), 256)};
  (addresses.push_back(memory.upload(inputs)), ...);
  std::string loads;
  std::vector<std::string> names{registerName<Out>(0)};
  int i = 0;
  auto load = [&](auto value) {
    using T = decltype(value);
    ++i;
    std::string at = "%d" + std::to_string(40 + i);
    names.push_back(registerName<T>(i));
    loads += "mul.wide.u32 " + at + ", %t, " + std::to_string(sizeof(T)) + ";\nadd.u64 " + at +
             ", " + at + ", %a" + std::to_string(i) + ";\nld.global." + bitsName<T>() + " " +
             names.back() + ", [" + at + "];\n";
  };
  (load(In()), ...);
  for (size_t n = names.size(); n-- > 0;)
    for (size_t at; (at = instruction.find("$" + std::to_string(n))) != instruction.npos;)
      instruction.replace(at, 2, names[n]);
  std::string last = std::to_string(count);
  std::string text =
      kernelText("setp.ge.u32 %p15, %t, " + last + ";\n@%p15 bra done;\n" + loads + instruction +
                     "\nmul.wide.u32 %d40, %t, " + std::to_string(sizeof(Out)) +
                     ";\nadd.u64 %d40, %d40, %a0;\n" + "st.global." + bitsName<Out>() +
                     " [%d40], " + names[0] + ";\ndone:",
                 sizeof...(In) + 1);
  auto module = Module::parse(text, memory);
  std::vector<std::byte> parameters(addresses.size() * 8);
  std::memcpy(parameters.data(), addresses.data(), parameters.size());
  run(*module, "test",
      {.grid = {uint32_t((count + 63) / 64)}, .block = {64}, .parameters = parameters}, memory);
  return memory.download<Out>(addresses[0], count);
}

/// Runs a kernel of `body` (see kernelText) with the given buffers.
inline void runBody(TestMemory &memory, const std::string &body, std::vector<uint64_t> parameters,
                    Dim3 block = {32}, uint32_t dynamicShared = 0, Statistics *statistics = nullptr,
                    const std::string &moduleText = "", Limits limits = {}) {
  auto module = Module::parse(kernelText(body, parameters.size(), moduleText), memory);
  std::vector<std::byte> bytes(parameters.size() * 8);
  if (!bytes.empty())
    std::memcpy(bytes.data(), parameters.data(), bytes.size());
  run(*module, "test",
      {.block = block, .dynamicSharedBytes = dynamicShared, .parameters = bytes, .limits = limits},
      memory, statistics);
}

#define EXPECT_FAULT(kindName, ...)                                                                \
  try {                                                                                            \
    __VA_ARGS__;                                                                                   \
    ADD_FAILURE() << "no fault, expected " #kindName;                                              \
  } catch (const ::gc::emulator::ptx::Fault &fault) {                                              \
    EXPECT_EQ(fault.kind, ::gc::emulator::ptx::Fault::Kind::kindName) << fault.what();             \
  }

} // namespace gc::emulator::ptx
