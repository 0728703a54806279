//===- AssemblePtx.h - PTX to machine code by NVIDIA's assembler ----------===//
#ifndef GC_COMPILER_CUDA_PTX_ASSEMBLEPTX_H
#define GC_COMPILER_CUDA_PTX_ASSEMBLEPTX_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace gc::cuda {

/// ptxas, from PATH, $CUDA_HOME/bin or $CUDA_PATH/bin: the first that reads our PTX.
struct Assembler {
  std::string path;    // empty: none
  std::string version; // "ptxas 13.0.88", or why there is none
  int cuda = 0;        // of which CUDA it is, 13000

  /// `ptxVersion`: what it must read, 80 for PTX 8.0.
  static Assembler find(int ptxVersion = 80);
};

/// What the assembler tells of a kernel.
struct AssembledKernel {
  int registers = 0;
  int64_t spillBytes = 0;
  int64_t stackBytes = 0;
  int64_t staticSharedBytes = 0;
  int64_t constantBytes = 0;
};

struct AssembledPtx {
  std::vector<uint8_t> cubin;
  llvm::StringMap<AssembledKernel> kernels;
};

/// Assembles for `target` ("sm_80") in a private temporary directory that is removed in every case.
/// Threads may call it at the same time. An error names the kernel if the assembler gives a line.
llvm::Expected<AssembledPtx> assemblePtx(const Assembler &assembler, llvm::StringRef ptx,
                                         llvm::StringRef target);

/// Reads what `ptxas -v` prints. Separate for tests.
llvm::StringMap<AssembledKernel> parseAssemblerReport(llvm::StringRef text);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_PTX_ASSEMBLEPTX_H
