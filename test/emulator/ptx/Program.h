//===- Program.h - kernels, decoded for execution --------------------------===//
//
// Every operand of an instruction - register, immediate, address of a symbol, special register - is
// a row of 32 lanes in the warp's register file, so that handlers read all of them the same way:
//
//   fma.rn.f32 %f3, %f1, %f2, 0f3F800000;   ->   { run = ternary<float, Fma>, rows of %f3, %f1, %f2
//                                                  and of the constant 1.0 }
//
// Rows of 64-bit registers have 256 bytes, of 32-bit ones 128, of 16-bit ones 64. A predicate is
// one word, a bit per lane.
//===----------------------------------------------------------------------===//
#pragma once

#include "test/emulator/ptx/Syntax.h"

namespace gc::emulator::ptx {

constexpr uint32_t warpSize = 32;

class Warp;
struct Instruction;
/// Executes an instruction for the lanes of `mask` (never empty).
using Handler = void (*)(Warp &warp, const Instruction &instruction, uint32_t mask);

struct Operand {
  uint32_t offset = 0; ///< bytes into the register file
  uint32_t index = 0;  ///< into the masks of lanes that were written; 0: always defined
};

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

struct FloatMode {
  Rounding rounding = Rounding::Nearest;
  bool ftz = false, saturate = false;
  bool integral = false; ///< cvt.rni and the like: round to a whole number
  bool nan = false;      ///< min.NaN, max.NaN
  bool relu = false;
};

struct MemoryMode {
  Space space = Space::Generic;
  uint8_t bytes = 0;        ///< of an element
  uint8_t count = 1;        ///< elements of a vector
  uint8_t addressBytes = 8; ///< width of the address register
  bool isSigned = false;
  bool strong = false; ///< volatile, relaxed, acquire, release: no race with its like
};

struct Instruction {
  enum class Kind : uint8_t { Plain, Move, Branch, IndirectBranch, Exit, Barrier, Trap };
  Handler run = nullptr;
  const Operand *operands = nullptr; ///< destinations, then sources
  uint8_t destinations = 0, sources = 0;
  Kind kind = Kind::Plain;
  bool guarded = false, guardNegated = false;
  uint32_t negatedSources = 0; ///< bit i: source i is a predicate read as its opposite
  Operand guard;
  uint32_t target = 0;        ///< of a branch
  uint32_t reconverge = 0;    ///< where a divergent branch joins again; size of the code: nowhere
  uint32_t registerBytes = 0; ///< ld, st, cvt, mov: width of the register side
  int64_t immediate = 0;      ///< offset of an address, selector of an operation
  FloatMode mode;
  MemoryMode memory;
  uint32_t line = 0;
  std::vector<uint32_t> targets; ///< of an indirect branch
};

/// Instruction::immediate of a barrier.
enum class BarrierKind { Sync, Arrive, Popc, And, Or };

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  DynamicSmemSize,
  TotalSmemSize,
};

struct Kernel {
  KernelInfo info;
  std::vector<Instruction> code;
  std::vector<Operand> operands; ///< what Instruction::operands points into
  uint32_t registerFileBytes = 0;
  uint32_t registerCount = 1; ///< masks of definedness
  struct Constant {
    uint32_t offset, bytes;
    uint64_t bits;
  };
  std::vector<Constant> constants;
  struct SpecialRow {
    uint32_t offset;
    Special special;
    bool wide; ///< 64 bits
  };
  std::vector<SpecialRow> specials;
  uint32_t sharedGranule = 4; ///< the smallest access to shared memory
};

struct Program {
  std::string version, target;
  std::map<std::string, Kernel, std::less<>> kernels;
  std::vector<Module::Variable> variables;
  std::vector<std::string> lines; ///< of the text, for messages
};

/// Generic addresses: a window for each space that is not global memory.
constexpr uint64_t windowMask = 0xFFFF'0000'0000'0000, sharedWindow = 0x00FE'0000'0000'0000,
                   localWindow = 0x00FD'0000'0000'0000, paramWindow = 0x00FC'0000'0000'0000;

/// Fills in where divergent branches join again: at the immediate post-dominator.
void findReconvergence(std::vector<Instruction> &code);

} // namespace gc::emulator::ptx
