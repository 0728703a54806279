//===- Syntax.h - PTX text as a tree ---------------------------------------===//
//
// What the text says, names unresolved: `parseSyntax` knows the grammar of PTX but no instruction.
//===----------------------------------------------------------------------===//
#pragma once

#include "test/emulator/ptx/Ptx.h"

#include <map>
#include <optional>

namespace gc::emulator::ptx {

enum class Type : uint8_t {
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
  F16x2,
  BF16x2,
  F32x2,
};

/// The type that a modifier such as "f32" names.
std::optional<Type> typeNamed(std::string_view name);
uint32_t sizeOf(Type type); ///< in bytes; a predicate has none
bool isFloat(Type type);    ///< scalars only
bool isSigned(Type type);
bool isInteger(Type type);

enum class Space : uint8_t { Generic, Global, Const, Shared, Local, Param, Register };

struct Expression {
  enum class Kind {
    Name,    ///< a register, special register, symbol or label
    Integer, ///< `bits`, as two's complement
    Single,  ///< 0f literal, `bits`
    Double,  ///< 0d or decimal literal, `bits`
    Address, ///< [children[0] + bits]
    Vector,  ///< {a, b, …}
    List,    ///< (a, b, …)
    Pair,    ///< a|b
  };
  Kind kind = Kind::Name;
  std::string name;
  uint64_t bits = 0;
  bool negated = false; ///< !p
  std::vector<Expression> children;
};

struct Declaration {
  Space space = Space::Register;
  Type type = Type::B32;
  uint32_t alignment = 0; ///< 0: that of the type
  std::string name;
  uint32_t count = 0;    ///< registers: n of name<n>; 0 for a single one
  uint64_t elements = 1; ///< variables; 0 for an array of open size
  bool external = false;
  std::vector<Expression> initial;
  size_t line = 0;
};

struct Statement {
  enum class Kind { Instruction, Label, Declaration, ScopeBegin, ScopeEnd, Targets };
  Kind kind = Kind::Instruction;
  size_t line = 0;
  std::string guard; ///< predicate register, or empty
  bool guardNegated = false;
  std::string name;                   ///< opcode or label
  std::vector<std::string> modifiers; ///< without their dots
  std::vector<Expression> operands;
  Declaration declaration;
};

struct Function {
  std::string name;
  size_t line = 0;
  bool entry = false;
  bool hasBody = false;
  uint32_t maxThreads[3]{}, requiredThreads[3]{};
  std::vector<Declaration> results, parameters;
  std::vector<Statement> body;
};

struct ModuleSyntax {
  std::string version, target;
  std::vector<Declaration> variables;
  std::map<std::string, Function> functions;
  std::vector<std::string> entries; ///< names, in the order of the text
};

/// Throws ParseError.
ModuleSyntax parseSyntax(std::string_view text);

} // namespace gc::emulator::ptx
