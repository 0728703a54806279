//===- HostTarget.h - The CPU that runs the compiler ----------------------===//
#ifndef GC_COMPILER_CPU_OBJECTCODE_HOSTTARGET_H
#define GC_COMPILER_CPU_OBJECTCODE_HOSTTARGET_H

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace gc::cpu {

struct HostTarget {
  std::string triple;
  std::string cpu;
  std::vector<std::string> features; // those that are on, sorted
  std::string featureString;         // as LLVM wants them: "+avx2,-sse4a,…"
  bool hasFMA = false;
  unsigned vectorBits = 128; // widest vectors worth using

  static HostTarget detect();

  /// A new machine; every thread that compiles needs its own.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() const;
};

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_OBJECTCODE_HOSTTARGET_H
