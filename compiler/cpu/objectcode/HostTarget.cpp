//===- HostTarget.cpp - The CPU that runs the compiler --------------------===//
#include "compiler/cpu/objectcode/HostTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

namespace gc::cpu {

HostTarget HostTarget::detect() {
  HostTarget host;
  host.triple = llvm::sys::getProcessTriple();
  host.cpu = llvm::sys::getHostCPUName().str();
  std::vector<std::string> flags;
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    flags.push_back((llvm::Twine(feature.second ? '+' : '-') + feature.first()).str());
    if (feature.second)
      host.features.push_back(feature.first().str());
  }
  llvm::sort(flags); // StringMap's order is not stable between runs
  llvm::sort(host.features);
  host.featureString = llvm::join(flags, ",");
  auto has = [&](llvm::StringRef name) { return llvm::is_contained(host.features, name); };
  bool isX86 = llvm::Triple(host.triple).isX86();
  host.hasFMA = isX86 ? has("fma") : true;
  if (isX86)
    host.vectorBits = has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq") ? 512
                      : has("avx")                                                            ? 256
                                                                                              : 128;
  return host;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> HostTarget::createMachine() const {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  std::string error;
  llvm::Triple tripleObject(triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(tripleObject, error);
  if (!target)
    return llvm::createStringError("no LLVM target for '" + triple + "': " + error);
  llvm::TargetOptions options;
  // Only math.fma becomes a fused multiply-add: whether a product is rounded must not depend on
  // what happens to stand next to it, or a recomputed value differs from the first one.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(tripleObject, cpu, featureString, options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("LLVM cannot create a target machine for '" + triple + "'");
  return machine;
}

} // namespace gc::cpu
