//===- Ptx.h - parse and execute PTX text on the host ----------------------===//
//
// The heart of the test-only emulated CUDA driver: PTX text becomes a Module, `run` executes one of
// its kernels, thread by thread, with the checks that a real GPU (or its sanitizer) would punish.
//
//   auto module = Module::parse(text, memory);          // ParseError: what we do not know, and
//   where run(*module, "add", {.grid = {4}, .block = {128}, .parameters = bytes}, memory);   //
//   Fault
//
// Nothing here is silently skipped: an unknown instruction, modifier or directive is a ParseError.
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gc::emulator::ptx {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

enum class AccessKind { Read, Write, Atomic };

/// What a running kernel did wrong. `run` adds the kernel, the PTX line, the block and the thread
/// to the message of what GlobalMemory throws.
struct Fault : std::runtime_error {
  enum class Kind {
    IllegalAddress,
    Misaligned,
    Uninitialised, ///< a read of a register or of memory that nothing has written
    UseAfterFree,
    SharedRace,
    SharedBounds,
    DivergentBarrier, ///< a barrier (or a warp's shuffle) that some live thread does not reach
    Unsupported,
    Trap,
    IllegalInstruction, ///< operands that the instruction does not allow
    BadLaunch,          ///< the launch contradicts the kernel or the limits
    InstructionBudget,  ///< more instructions than Limits allow: most likely an endless loop
  };
  Fault(Kind kind, const std::string &message) : std::runtime_error(message), kind(kind) {}
  Kind kind;
};

/// Text that is not PTX, or PTX that this interpreter does not know. The message names the
/// instruction and the line.
struct ParseError : std::runtime_error {
  ParseError(size_t line, const std::string &message) : std::runtime_error(message), line(line) {}
  size_t line;
};

/// The device's global memory, owned by whoever runs kernels.
class GlobalMemory {
public:
  virtual ~GlobalMemory() = default;
  /// Host pointer to `bytes` at a device address, after checking bounds, life and (reads, atomics)
  /// initialisation; marks written bytes initialised. Throws Fault. The interpreter joins the
  /// accesses of neighbouring lanes into one call, and repeats them one by one if it throws. The
  /// pointer must stay good until the next call of `allocate`. Alignment is checked by the caller.
  virtual std::byte *access(uint64_t address, uint32_t bytes, AccessKind kind) = 0;
  /// Storage for a module's .global and .const variables; the driver frees it with the module.
  virtual uint64_t allocate(size_t bytes, size_t alignment) = 0;
};

struct KernelInfo {
  std::string name;
  struct Parameter {
    uint32_t bytes, alignment, offset;
  };
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t staticSharedBytes = 0;
  uint32_t localBytes = 0;       ///< per thread
  uint32_t maxThreads = 0;       ///< product of .maxntid or .reqntid, or 0
  uint32_t requiredThreads[3]{}; ///< .reqntid, or zeros
  uint32_t registers = 0; ///< declared virtual registers, those of inlined functions included
};

struct Program;

/// Immutable once parsed. Holds no reference to the memory it was parsed with.
class Module {
public:
  /// Decodes the whole text; initialises .global and .const variables in `memory`. Throws
  /// ParseError.
  static std::unique_ptr<Module> parse(std::string_view text, GlobalMemory &memory);
  ~Module();

  std::vector<KernelInfo> kernels() const;
  const KernelInfo *find(std::string_view name) const;
  std::string target() const;  ///< such as "sm_80"
  std::string version() const; ///< such as "7.8"

  /// Address and size of a .global or .const variable.
  struct Variable {
    std::string name;
    uint64_t address;
    uint64_t bytes;
  };
  std::vector<Variable> variables() const;

  const Program &program() const { return *program_; }

private:
  explicit Module(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

struct Limits {
  uint32_t sharedBytesPerBlock = 48 * 1024; ///< static and dynamic together
  uint32_t threadsPerBlock = 1024;
  uint64_t warpInstructions = uint64_t(1) << 33; ///< budget of a whole launch
};

struct Launch {
  Dim3 grid{}, block{};
  uint32_t dynamicSharedBytes = 0;
  std::span<const std::byte> parameters{}; ///< laid out as KernelInfo says; not kept
  Limits limits{};
};

/// Sums over a launch. Counting costs time: it is done only if asked for.
struct Statistics {
  uint64_t instructions = 0;        ///< of threads: a full warp's instruction counts 32
  uint64_t warpInstructions = 0;    ///< of warps
  uint64_t sharedAccesses = 0;      ///< wavefronts that shared accesses need without conflicts
  uint64_t sharedBankConflicts = 0; ///< wavefronts that they need beyond that
  uint64_t globalAccesses = 0;      ///< warp instructions that touch global memory
  uint64_t globalTransactions = 0;  ///< 32-byte sectors that they touch
  uint64_t globalBytes = 0;         ///< bytes that their threads asked for
  uint64_t barriers = 0;            ///< arrivals of warps
  uint64_t divergentBranches = 0;
};

/// Executes every thread of every block, blocks in the order of their index: two runs do the same
/// in the same order. Throws Fault; memory keeps what was written before. Adds to `statistics`.
void run(const Module &module, const std::string &kernel, const Launch &launch,
         GlobalMemory &memory, Statistics *statistics = nullptr);

} // namespace gc::emulator::ptx
