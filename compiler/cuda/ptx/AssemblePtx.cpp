//===- AssemblePtx.cpp - PTX to machine code by NVIDIA's assembler --------===//
#include "compiler/cuda/ptx/AssemblePtx.h"
#include "compiler/lowering/MemoryFile.h"
#include "runtime/plan/CudaVersions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

namespace gc::cuda {
namespace {

using codegen::MemoryFile;

struct Outcome {
  int code;
  std::string text; // of both streams
};

llvm::Expected<Outcome> run(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> arguments) {
  auto output = MemoryFile::create();
  if (!output)
    return output.takeError();
  std::string log = output->path();
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(log),
                                                llvm::StringRef(log)};
  llvm::SmallVector<llvm::StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  std::string message;
  int code = llvm::sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &message);
  if (code < 0)
    return llvm::createStringError("cannot run '" + program + "': " + message);
  auto text = output->read();
  if (!text)
    return text.takeError();
  return Outcome{code, (*text)->getBuffer().str()};
}

/// The kernel that line `number` (from 1) belongs to; empty: none.
llvm::StringRef kernelAtLine(llvm::StringRef ptx, unsigned number) {
  llvm::StringRef kernel;
  for (unsigned i = 0; i < number && !ptx.empty(); ++i) {
    auto [line, rest] = ptx.split('\n');
    if (auto [before, name] = line.split(".entry "); !name.empty())
      kernel = name.take_until([](char c) { return c == '('; }).trim();
    ptx = rest;
  }
  return kernel;
}

/// The assembler's lines with errors; the kernel of the first one in front, where a line is given.
std::string describeErrors(llvm::StringRef text, llvm::StringRef ptx) {
  std::string errors, kernel;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    if (!line.contains("error") && !line.contains("fatal"))
      continue;
    unsigned number;
    llvm::StringRef rest = line.split(", line ").second;
    if (kernel.empty() && !rest.consumeInteger(10, number))
      kernel = kernelAtLine(ptx, number).str();
    errors += (errors.empty() ? "" : "; ") + line.trim().str();
  }
  return (kernel.empty() ? "" : "kernel '" + kernel + "': ") +
         (errors.empty() ? text.trim().str() : errors);
}

/// The integer in front of `unit`, as in "0 bytes stack frame, 4 bytes spill stores"; 0: none.
int64_t numberBefore(llvm::StringRef line, llvm::StringRef unit) {
  size_t end = line.find(unit);
  if (end == llvm::StringRef::npos)
    return 0;
  llvm::StringRef before = line.take_front(end).rtrim();
  size_t begin = before.find_last_not_of("0123456789");
  int64_t number = 0;
  before.drop_front(begin == llvm::StringRef::npos ? 0 : begin + 1).getAsInteger(10, number);
  return number;
}

} // namespace

/// What `path` is, and whether it reads this version of PTX; without a path where it does not.
static Assembler examine(const std::string &path, int ptxVersion) {
  auto outcome = run(path, {"--version"});
  if (!outcome)
    return {"", "none: " + llvm::toString(outcome.takeError())};
  // "Cuda compilation tools, release 13.0, V13.0.88"
  llvm::StringRef version = llvm::StringRef(outcome->text).split(", V").second;
  version = version.take_while([](char c) { return c == '.' || llvm::isDigit(c); });
  int major = 0, minor = 0;
  llvm::StringRef rest = version;
  if (outcome->code != 0 || rest.consumeInteger(10, major) || !rest.consume_front(".") ||
      rest.consumeInteger(10, minor))
    return {"", "none: '" + path + " --version' gives no version"};
  int cuda = 1000 * major + 10 * minor, needed = plan::cudaForPtx(ptxVersion);
  if (cuda < needed)
    return {"", "none: ptxas " + version.str() + " (" + path + ") is older than CUDA " +
                    plan::versionText(needed) + "'s, the first that reads this target's PTX " +
                    std::to_string(ptxVersion / 10) + "." + std::to_string(ptxVersion % 10)};
  return {path, "ptxas " + version.str(), cuda};
}

Assembler Assembler::find(int ptxVersion) {
  std::vector<std::string> folders{""}; // "": PATH
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto home = llvm::sys::Process::GetEnv(variable); home && !home->empty())
      folders.push_back(*home + "/bin");
  std::optional<Assembler> refused;
  for (const std::string &folder : folders) {
    auto found = folder.empty() ? llvm::sys::findProgramByName("ptxas")
                                : llvm::sys::findProgramByName("ptxas", {folder});
    if (!found)
      continue;
    Assembler assembler = examine(*found, ptxVersion);
    if (!assembler.path.empty())
      return assembler;
    if (!refused)
      refused = assembler;
  }
  return refused.value_or(
      Assembler{"", "none: no ptxas in PATH, $CUDA_HOME/bin or $CUDA_PATH/bin"});
}

llvm::StringMap<AssembledKernel> parseAssemblerReport(llvm::StringRef text) {
  // ptxas info    : Compiling entry function 'k' for 'sm_80'
  // ptxas info    : Function properties for k
  //     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
  // ptxas info    : Used 18 registers, used 1 barriers, 4224 bytes smem, 368 bytes cmem[0]
  llvm::StringMap<AssembledKernel> kernels;
  AssembledKernel *kernel = nullptr;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (llvm::StringRef rest = line.split("entry function '").second; !rest.empty())
      kernel = &kernels[rest.split('\'').first];
    if (!kernel)
      continue;
    if (line.contains("bytes stack frame")) {
      kernel->stackBytes = numberBefore(line, "bytes stack frame");
      kernel->spillBytes =
          numberBefore(line, "bytes spill stores") + numberBefore(line, "bytes spill loads");
    }
    if (!line.contains(": Used "))
      continue;
    kernel->registers = int(numberBefore(line, "registers"));
    kernel->staticSharedBytes = numberBefore(line, "bytes smem");
    llvm::SmallVector<llvm::StringRef> parts;
    line.split(parts, ',');
    for (llvm::StringRef part : parts)
      kernel->constantBytes += numberBefore(part, "bytes cmem");
  }
  return kernels;
}

static llvm::Expected<AssembledPtx> assembleOnce(const Assembler &assembler, llvm::StringRef ptx,
                                                 llvm::StringRef target, std::string registers) {
  auto input = MemoryFile::create(ptx), output = MemoryFile::create();
  if (!input || !output)
    return llvm::joinErrors(input.takeError(), output.takeError());
  std::string gpu = "--gpu-name=" + target.str();
  auto outcome = run(assembler.path,
                     {gpu, registers, "--verbose", "--output-file", output->path(), input->path()});
  if (!outcome)
    return outcome.takeError();
  if (outcome->code != 0)
    return llvm::createStringError(assembler.version + " fails for " + target + ": " +
                                   describeErrors(outcome->text, ptx));
  auto cubin = output->read();
  if (!cubin)
    return cubin.takeError();
  AssembledPtx result;
  result.cubin.assign((*cubin)->getBufferStart(), (*cubin)->getBufferEnd());
  result.kernels = parseAssemblerReport(outcome->text);
  return result;
}

static int64_t spilled(const AssembledPtx &assembled) {
  int64_t bytes = 0;
  for (const auto &kernel : assembled.kernels)
    bytes += kernel.second.spillBytes + kernel.second.stackBytes;
  return bytes;
}

// The assembler prefers one more resident block to a few registers, and spills a word or two then.
// It has a knob for how eagerly it uses registers; which setting avoids that differs from kernel to
// kernel.
llvm::Expected<AssembledPtx> assemblePtx(const Assembler &assembler, llvm::StringRef ptx,
                                         llvm::StringRef target) {
  AssembledPtx best;
  for (int level : {5, 0, 3, 8, 10}) { // 5 is its default
    auto assembled =
        assembleOnce(assembler, ptx, target, "--register-usage-level=" + std::to_string(level));
    if (!assembled)
      return assembled.takeError();
    if (best.cubin.empty() || spilled(*assembled) < spilled(best))
      best = std::move(*assembled);
    if (spilled(best) == 0)
      break;
  }
  return best;
}

} // namespace gc::cuda
