#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/Decoder.h"

#include <algorithm>
#include <bit>

using namespace gc::emulator::ptx;

Builder::Builder(FunctionDecoder &decoder, const Statement &statement)
    : decoder(decoder), statement(statement) {
  instruction.line = statement.line;
  if (statement.guard.empty())
    return;
  instruction.guarded = true;
  instruction.guardNegated = statement.guardNegated;
  const Symbol *symbol = decoder.lookup(statement.guard);
  if (!symbol || symbol->kind != Symbol::Kind::Register || symbol->bytes != 0)
    fail("guard '" + statement.guard + "' is not a predicate");
  instruction.guard = symbol->operand;
}

void Builder::fail(const std::string &what) const {
  std::string spelling = statement.name;
  for (const std::string &each : statement.modifiers)
    spelling += "." + each;
  throw ParseError(statement.line,
                   "line " + std::to_string(statement.line) + ": '" + spelling + "': " + what);
}

std::string Builder::nextModifier() const {
  return nextModifierIndex_ < statement.modifiers.size() ? statement.modifiers[nextModifierIndex_]
                                                         : "";
}

bool Builder::isFloatingPoint() const {
  auto type = statement.modifiers.empty() ? std::nullopt : typeNamed(statement.modifiers.back());
  return type && *type >= Type::F16;
}

bool Builder::take(std::string_view modifier) {
  if (nextModifier() != modifier)
    return false;
  ++nextModifierIndex_;
  return true;
}

std::optional<size_t> Builder::takeAny(std::initializer_list<std::string_view> modifiers) {
  size_t index = 0;
  for (std::string_view each : modifiers) {
    if (take(each))
      return index;
    ++index;
  }
  return std::nullopt;
}

Type Builder::takeType(std::initializer_list<Type> allowed) {
  std::string name = nextModifier();
  auto type = typeNamed(name);
  if (!type || std::find(allowed.begin(), allowed.end(), *type) == allowed.end())
    fail(name.empty() ? "a type is missing"
                      : "modifier or type '." + name + "' is not supported here");
  ++nextModifierIndex_;
  return *type;
}

bool Builder::takeRounding() {
  auto index = takeAny({"rn", "rz", "rm", "rp"});
  if (index)
    instruction.mode.rounding = static_cast<Rounding>(*index);
  return index.has_value();
}

const Expression &Builder::takeOperand() {
  if (!operandsLeft())
    fail("too few operands");
  return statement.operands[nextOperand++];
}

bool Builder::nextIsConstant() const {
  return operandsLeft() && statement.operands[nextOperand].kind == Expression::Kind::Integer;
}

uint64_t Builder::constant() {
  if (!nextIsConstant())
    fail("expected a whole number as operand " + std::to_string(nextOperand + 1));
  return takeOperand().bits;
}

uint32_t Builder::widthOf(const Expression &expression) const {
  const Symbol *symbol =
      expression.kind == Expression::Kind::Name ? decoder.lookup(expression.name) : nullptr;
  if (symbol && symbol->kind == Symbol::Kind::Register)
    return symbol->bytes;
  uint32_t bytes = 0;
  if (expression.kind == Expression::Kind::Name && decoder.special(expression.name, bytes))
    return bytes;
  return 0;
}

void Builder::addDestination(Operand operand) {
  operands.push_back(operand);
  ++instruction.destinations;
}

void Builder::scratchDestination(Type type) { addDestination(decoder.scratch(sizeOf(type))); }

void Builder::destinationOf(const Expression &expression, Type type) {
  if (expression.kind != Expression::Kind::Name || expression.negated)
    fail("a destination must be a register");
  if (expression.name == "_")
    return scratchDestination(type);
  const Symbol *symbol = decoder.lookup(expression.name);
  if (!symbol || symbol->kind != Symbol::Kind::Register)
    fail("register '" + expression.name + "' is not declared");
  if (symbol->bytes != sizeOf(type))
    fail("register '" + expression.name + "' has the wrong width");
  addDestination(symbol->operand);
}

void Builder::sourceOf(const Expression &expression, Type type) {
  uint32_t bytes = sizeOf(type);
  uint32_t position = instruction.sources++;
  if (expression.negated) {
    if (type != Type::Pred)
      fail("only a predicate can be negated with '!'");
    instruction.negatedSources |= 1u << position;
  }
  switch (expression.kind) {
  case Expression::Kind::Name: {
    uint32_t width = 0;
    if (const Symbol *symbol = decoder.lookup(expression.name)) {
      if (symbol->kind == Symbol::Kind::Variable) {
        if (bytes != 8 && !(bytes == 4 && symbol->address <= UINT32_MAX))
          fail("the address of '" + expression.name + "' does not fit the operand");
        operands.push_back(decoder.constant(symbol->address, bytes));
        return;
      }
      if (symbol->bytes != bytes)
        fail("register '" + expression.name + "' has the wrong width");
      operands.push_back(symbol->operand);
    } else if (auto special = decoder.special(expression.name, width)) {
      if (width != bytes)
        fail("special register '" + expression.name + "' has the wrong width");
      operands.push_back(*special);
    } else
      fail("'" + expression.name + "' is not declared, or a special register not supported");
    return;
  }
  case Expression::Kind::Integer: {
    int64_t value = static_cast<int64_t>(expression.bits);
    if (type == Type::F32 || type == Type::F64)
      fail("a whole number is not a floating-point operand");
    uint32_t bits = bytes * 8;
    if (bits && bits < 64 && (value < -(int64_t(1) << (bits - 1)) || value >= int64_t(1) << bits))
      fail("immediate " + std::to_string(value) + " does not fit " + std::to_string(bits) +
           " bits");
    uint64_t mask = bits < 64 ? (uint64_t(1) << bits) - 1 : ~uint64_t(0);
    operands.push_back(decoder.constant(bits ? expression.bits & mask : expression.bits, bytes));
    return;
  }
  case Expression::Kind::Single:
    if (type != Type::F32 && type != Type::B32)
      fail("a 0f literal is an operand of 32 bits");
    operands.push_back(decoder.constant(expression.bits, 4));
    return;
  case Expression::Kind::Double:
    if (type == Type::F32)
      operands.push_back(decoder.constant(
          std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(expression.bits))), 4));
    else if (type == Type::F64 || type == Type::B64)
      operands.push_back(decoder.constant(expression.bits, 8));
    else
      fail("a 0d literal is an operand of 64 bits");
    return;
  default:
    fail("operand " + std::to_string(nextOperand) + " must be a register or a constant");
  }
}

void Builder::destination(Type type) { destinationOf(takeOperand(), type); }
void Builder::source(Type type) { sourceOf(takeOperand(), type); }

static Type bitsOf(uint32_t bytes) {
  return bytes == 8 ? Type::B64 : bytes == 4 ? Type::B32 : bytes == 2 ? Type::B16 : Type::B8;
}

void Builder::wideDestination(Type type) { vectorDestination(type, 1); }

void Builder::wideSource(Type type) { vectorSource(type, 1); }

void Builder::vectorDestination(Type type, uint32_t count) {
  const Expression &all = takeOperand();
  bool vector = all.kind == Expression::Kind::Vector;
  if (vector ? all.children.size() != count : count != 1)
    fail("expected " + std::to_string(count) + " elements");
  for (uint32_t i = 0; i < count; ++i) {
    const Expression &each = vector ? all.children[i] : all;
    uint32_t width = each.name == "_" ? std::max(2u, sizeOf(type)) : widthOf(each);
    if (width < sizeOf(type) ||
        (i && each.name != "_" && width != instruction.registerBytes && widthSet))
      fail("register '" + each.name + "' has the wrong width");
    if (each.name != "_" || !widthSet)
      instruction.registerBytes = width;
    widthSet |= each.name != "_";
    destinationOf(each, bitsOf(width));
  }
}

void Builder::vectorSource(Type type, uint32_t count) {
  const Expression &all = takeOperand();
  bool vector = all.kind == Expression::Kind::Vector;
  if (vector ? all.children.size() != count : count != 1)
    fail("expected " + std::to_string(count) + " elements");
  for (uint32_t i = 0; i < count; ++i) {
    const Expression &each = vector ? all.children[i] : all;
    uint32_t width = widthOf(each);
    if (width) {
      if (width < sizeOf(type) || (widthSet && width != instruction.registerBytes))
        fail("register '" + each.name + "' has the wrong width");
      instruction.registerBytes = width;
      widthSet = true;
    }
  }
  // Constants take the width of the registers beside them.
  if (!widthSet)
    instruction.registerBytes = std::max(2u, sizeOf(type));
  for (uint32_t i = 0; i < count; ++i) {
    const Expression &each = vector ? all.children[i] : all;
    bool same = instruction.registerBytes == sizeOf(type);
    sourceOf(each, widthOf(each) || !same ? bitsOf(instruction.registerBytes) : type);
  }
}

void Builder::predicatePair() {
  const Expression &expression = takeOperand();
  if (expression.kind == Expression::Kind::Pair) {
    destinationOf(expression.children[0], Type::Pred);
    destinationOf(expression.children[1], Type::Pred);
  } else {
    destinationOf(expression, Type::Pred);
    scratchDestination(Type::Pred);
  }
}

void Builder::predicateSource() { source(Type::Pred); }

void Builder::address() {
  const Expression &expression = takeOperand();
  if (expression.kind != Expression::Kind::Address)
    fail("expected an address in brackets");
  const Expression &base = expression.children[0];
  MemoryMode &memory = instruction.memory;
  instruction.immediate = static_cast<int64_t>(expression.bits);
  if (memory.space == Space::Param && decoder.inCall())
    memory.space = Space::Local;
  const Symbol *symbol = base.kind == Expression::Kind::Name ? decoder.lookup(base.name) : nullptr;
  if (symbol && symbol->kind == Symbol::Kind::Variable) {
    if (memory.space == Space::Param && symbol->space == Space::Local)
      memory.space = Space::Local; // what a call passes
    if (memory.space == Space::Const && symbol->space == Space::Global)
      fail("'" + base.name + "' is not in constant memory");
    if (memory.space != Space::Generic && memory.space != symbol->space &&
        !(memory.space == Space::Global && symbol->space == Space::Const))
      fail("'" + base.name + "' is in another state space");
    if (memory.space == Space::Generic) // the assembler accepts symbols here: their space is known
      memory.space = symbol->space;
    sourceOf(base, Type::U64);
    return;
  }
  uint32_t width = widthOf(base);
  memory.addressBytes = width == 4 ? 4 : 8;
  sourceOf(base, width == 4 ? Type::U32 : Type::U64);
}

void Builder::finish() {
  if (!nextModifier().empty())
    fail("modifier '." + nextModifier() + "' is not supported here");
  if (operandsLeft())
    fail("too many operands");
  const MemoryMode &memory = instruction.memory;
  if (memory.bytes && (memory.space == Space::Shared || memory.space == Space::Generic))
    decoder.kernel.sharedGranule = std::min<uint32_t>(decoder.kernel.sharedGranule, memory.bytes);
}

Decode gc::emulator::ptx::decoderOf(std::string_view opcode) {
  for (auto family : {integerDecoder, bitDecoder, floatDecoder, comparisonDecoder, moveDecoder,
                      memoryDecoder, atomicDecoder, warpDecoder, matrixDecoder})
    if (Decode found = family(opcode))
      return found;
  return nullptr;
}
