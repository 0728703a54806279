//===- KernelLibrary.h - Generated CPU code as one shared object ----------===//
#ifndef GC_COMPILER_CPU_OBJECTCODE_KERNELLIBRARY_H
#define GC_COMPILER_CPU_OBJECTCODE_KERNELLIBRARY_H

#include <cstdint>
#include <string>
#include <vector>

namespace gc::cpu {

/// Code for the machine that compiled it. `object` is an ELF shared object that needs nothing but
/// memcpy, memmove and memset. Every symbol is
///   extern "C" void name(void *const *buffers, int64_t begin, int64_t end);
/// `buffers` holds one 64-byte aligned pointer for each memref argument of the kernel, in order;
/// distinct arguments must not overlap. Items [begin, end) are computed.
struct KernelLibrary {
  std::vector<uint8_t> object;
  std::vector<std::string> symbols;  // in the order of the functions in the module
  std::string cpu;                   // LLVM's name of the CPU, e.g. "znver4"
  std::vector<std::string> features; // what the code may use of it, e.g. "avx512f"
};

struct CodegenOptions {
  /// Threads that compile; 0: all of the machine. The result does not depend on it.
  unsigned threads = 0;
  /// Where not empty: kernels.mlir, kernels.N.ll, kernels.N.s and kernels.so are left there.
  std::string dumpDirectory;
};

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_OBJECTCODE_KERNELLIBRARY_H
