//===- Builder.h - one instruction on its way from text to handler ---------===//
//
// The families of instructions (IntegerOps.cpp, FloatOps.cpp, …) take the modifiers and operands
// that they know; what is left over in the end is an error. So no modifier is ever skipped by
// accident.
//===----------------------------------------------------------------------===//
#pragma once

#include "test/emulator/ptx/Program.h"

#include <initializer_list>

namespace gc::emulator::ptx {

class FunctionDecoder;

class Builder {
public:
  Builder(FunctionDecoder &decoder, const Statement &statement);

  const std::string &opcode() const { return statement.name; }
  /// Takes the next modifier if it is this one.
  bool take(std::string_view modifier);
  /// Index of the next modifier in the list, which is then taken, or nothing.
  std::optional<size_t> takeAny(std::initializer_list<std::string_view> modifiers);
  /// Takes the next modifier, which must be one of these types.
  Type takeType(std::initializer_list<Type> allowed);
  /// .rn, .rz, .rm, .rp
  bool takeRounding();
  std::string nextModifier() const;
  /// Whether the last modifier is a floating-point type, packed ones included.
  bool isFloatingPoint() const;

  /// The next operand. A source of `type` may be a register of that width, an immediate or a
  /// symbol.
  void destination(Type type);
  void source(Type type);
  /// Registers of any width not below `type`: ld, st, cvt. The first one sets registerBytes, the
  /// others must agree until resetWidth().
  void wideDestination(Type type);
  void wideSource(Type type);
  void resetWidth() { widthSet = false; }
  /// `{a, b}` or a single operand of such registers.
  void vectorDestination(Type type, uint32_t count);
  void vectorSource(Type type, uint32_t count);
  /// `p` or `p|q`; a missing q goes nowhere.
  void predicatePair();
  void predicateSource();
  void address();
  /// A whole number that is part of the instruction.
  uint64_t constant();
  bool nextIsConstant() const;
  size_t operandsLeft() const { return statement.operands.size() - nextOperand; }
  const Expression &takeOperand();
  void destinationOf(const Expression &expression, Type type);
  void sourceOf(const Expression &expression, Type type);
  uint32_t widthOf(const Expression &expression) const; ///< of a register in bytes, or 0
  void scratchDestination(Type type);

  [[noreturn]] void fail(const std::string &what) const;
  void finish();

  Instruction instruction;

private:
  friend class FunctionDecoder;
  void addDestination(Operand operand);
  FunctionDecoder &decoder;
  const Statement &statement;
  size_t nextModifierIndex_ = 0, nextOperand = 0;
  bool widthSet = false;
  std::vector<Operand> operands;
};

using Decode = void (*)(Builder &);
/// The decoder of an opcode such as "add", or null.
Decode decoderOf(std::string_view opcode);

/// Each returns the decoder of an opcode of its family, or null.
Decode integerDecoder(std::string_view opcode);
Decode bitDecoder(std::string_view opcode);
Decode floatDecoder(std::string_view opcode);
Decode comparisonDecoder(std::string_view opcode);
Decode moveDecoder(std::string_view opcode);
Decode memoryDecoder(std::string_view opcode);
Decode atomicDecoder(std::string_view opcode);
Decode warpDecoder(std::string_view opcode);
Decode matrixDecoder(std::string_view opcode);

/// The floating-point forms of opcodes that integers have too; false if this is not one.
bool decodeFloatArithmetic(Builder &builder);
void decodeConvert(Builder &builder);

} // namespace gc::emulator::ptx
