#include "test/emulator/ptx/Decoder.h"

#include <algorithm>
#include <utility>

using namespace gc::emulator::ptx;

namespace {
uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}
uint32_t alignmentOf(const Declaration &declaration) {
  return declaration.alignment ? declaration.alignment : std::max(1u, sizeOf(declaration.type));
}
uint64_t bytesOf(const Declaration &declaration) {
  return declaration.elements * sizeOf(declaration.type);
}
constexpr int deepestCall = 32;
} // namespace

FunctionDecoder::FunctionDecoder(const ModuleScope &module, const Function &function,
                                 Kernel &kernel)
    : kernel(kernel), module(module), function(function) {}

void FunctionDecoder::fail(size_t line, const std::string &what) const {
  throw ParseError(line, "line " + std::to_string(line) + ": in '" + function.name + "': " + what);
}

void FunctionDecoder::decode() {
  kernel.info.name = function.name;
  layOutParameters();
  layOutShared();
  const uint32_t *max = function.maxThreads, *required = function.requiredThreads;
  kernel.info.maxThreads =
      required[0] ? required[0] * required[1] * required[2] : max[0] * max[1] * max[2];
  std::copy_n(required, 3, kernel.info.requiredThreads);

  decodeBody(function, parameters);
  Instruction end;
  end.kind = Instruction::Kind::Exit;
  end.line = function.line;
  kernel.code.push_back(end);
  firstOperand.push_back(kernel.operands.size());

  for (size_t i = 0; i < kernel.code.size(); ++i)
    kernel.code[i].operands = kernel.operands.data() + firstOperand[i];
  kernel.info.registers = kernel.registerCount - 1;
  findReconvergence(kernel.code);
}

void FunctionDecoder::layOutParameters() {
  uint32_t offset = 0;
  for (const Declaration &each : function.parameters) {
    offset = alignTo(offset, alignmentOf(each));
    uint32_t bytes = bytesOf(each);
    kernel.info.parameters.push_back({bytes, alignmentOf(each), offset});
    Symbol symbol;
    symbol.kind = Symbol::Kind::Variable;
    symbol.space = Space::Param;
    symbol.address = offset;
    parameters[each.name] = symbol;
    offset += bytes;
  }
  kernel.info.parameterBytes = offset;
}

/// Names that a function and what it calls mention, to place only those variables that it uses.
void FunctionDecoder::collectNames(const Function &from, std::map<std::string, bool> &names,
                                   int level) {
  if (level > deepestCall)
    fail(from.line, "calls are nested more than " + std::to_string(deepestCall) +
                        " deep; recursion is not supported");
  auto walk = [&](auto &self, const Expression &expression) -> void {
    if (!expression.name.empty())
      names[expression.name] = true;
    for (const Expression &child : expression.children)
      self(self, child);
  };
  for (const Statement &each : from.body) {
    for (const Expression &operand : each.operands)
      walk(walk, operand);
    if (each.name == "call")
      for (const Expression &operand : each.operands)
        if (auto callee = module.syntax.functions.find(operand.name);
            operand.kind == Expression::Kind::Name && callee != module.syntax.functions.end())
          collectNames(callee->second, names, level + 1);
  }
}

/// Static variables first, in the order of the text; arrays of open size share what follows.
void FunctionDecoder::layOutShared() {
  std::map<std::string, bool> names;
  collectNames(function, names, 0);
  uint64_t offset = 0, dynamicAlignment = 16;
  std::vector<std::string> dynamic;
  auto place = [&](const Declaration &each, const std::string &key) {
    if (each.space != Space::Shared || shared.contains(key))
      return;
    Symbol symbol;
    symbol.kind = Symbol::Kind::Variable;
    symbol.space = Space::Shared;
    if (each.elements == 0) {
      dynamicAlignment = std::max<uint64_t>(dynamicAlignment, alignmentOf(each));
      dynamic.push_back(key);
    } else {
      symbol.address = offset = alignTo(offset, alignmentOf(each));
      offset += bytesOf(each);
    }
    shared[key] = symbol;
  };
  for (const Declaration &each : module.syntax.variables)
    if (names.contains(each.name))
      place(each, each.name);
  for (const auto &[name, callee] : module.syntax.functions)
    if (&callee == &function || names.contains(name))
      for (const Statement &each : callee.body)
        if (each.kind == Statement::Kind::Declaration)
          place(each.declaration, name + "/" + each.declaration.name);
  kernel.info.staticSharedBytes = offset;
  if (!dynamic.empty())
    kernel.info.staticSharedBytes = alignTo(offset, dynamicAlignment);
  for (const std::string &name : dynamic)
    shared[name].address = kernel.info.staticSharedBytes;
}

void FunctionDecoder::decodeBody(const Function &from, Symbols bindings) {
  size_t firstFixup = fixups.size();
  std::vector<size_t> outerOpen = std::exchange(open, {});
  std::vector<size_t> outerReturns = std::exchange(returns, {});
  open.push_back(scopes.size());
  scopes.push_back({std::move(bindings), {}, {}});
  for (const Statement &each : from.body)
    statement(each, from);
  resolveLabels(firstFixup);
  for (size_t each : returns)
    kernel.code[each].target = kernel.code.size();
  open = std::move(outerOpen);
  returns = std::move(outerReturns);
}

void FunctionDecoder::statement(const Statement &each, const Function &from) {
  switch (each.kind) {
  case Statement::Kind::ScopeBegin:
    open.push_back(scopes.size());
    scopes.emplace_back();
    return;
  case Statement::Kind::ScopeEnd:
    open.pop_back();
    return;
  case Statement::Kind::Label:
    if (!scopes[open.back()].labels.emplace(each.name, kernel.code.size()).second)
      fail(each.line, "label '" + each.name + "' is defined twice");
    return;
  case Statement::Kind::Targets:
    for (const Expression &target : each.operands)
      scopes[open.back()].targetLists[each.name].push_back(target.name);
    return;
  case Statement::Kind::Declaration:
    declare(each.declaration, from);
    return;
  case Statement::Kind::Instruction:
    if (control(each))
      return;
    Decode decode = decoderOf(each.name);
    Builder builder(*this, each);
    if (!decode)
      builder.fail("instruction '" + each.name + "' is not supported");
    decode(builder);
    builder.finish();
    append(builder);
  }
}

uint64_t FunctionDecoder::allocateLocal(const Declaration &declaration) {
  uint64_t address = alignTo(kernel.info.localBytes, alignmentOf(declaration));
  kernel.info.localBytes = address + bytesOf(declaration);
  return address;
}

void FunctionDecoder::declare(const Declaration &declaration, const Function &from) {
  Symbol symbol;
  symbol.space = declaration.space;
  switch (declaration.space) {
  case Space::Register:
    symbol.kind = declaration.count ? Symbol::Kind::Family : Symbol::Kind::Register;
    // Bytes have no registers of their own width.
    symbol.bytes = declaration.type == Type::Pred ? 0 : std::max(2u, sizeOf(declaration.type));
    symbol.count = declaration.count;
    if (!declaration.count)
      symbol.operand = allocateRegister(symbol.bytes);
    break;
  case Space::Shared:
    symbol = shared.at(from.name + "/" + declaration.name);
    break;
  case Space::Local:
  case Space::Param: // what a call passes lies in the caller's local memory
    symbol.kind = Symbol::Kind::Variable;
    symbol.space = Space::Local;
    symbol.address = allocateLocal(declaration);
    break;
  default:
    fail(declaration.line,
         "variable '" + declaration.name + "' must be declared outside functions");
  }
  scopes[open.back()].symbols[declaration.name] = symbol;
}

void FunctionDecoder::append(Builder &builder) {
  firstOperand.push_back(kernel.operands.size());
  kernel.operands.insert(kernel.operands.end(), builder.operands.begin(), builder.operands.end());
  kernel.code.push_back(std::move(builder.instruction));
}

/// Branches, calls and ends; everything else is in the tables.
bool FunctionDecoder::control(const Statement &each) {
  const std::string &name = each.name;
  bool jump = name == "bra" || name == "brx", end = name == "ret" || name == "exit";
  if (!jump && !end && name != "call" && name != "trap")
    return false;
  Builder builder(*this, each);
  if (jump) {
    bool indirect = name == "brx";
    if (indirect && !builder.take("idx"))
      builder.fail("only brx.idx is known");
    builder.take("uni");
    if (indirect)
      builder.source(Type::U32);
    branch(each, {builder.takeOperand().name}, indirect, builder);
  } else if (name == "call") {
    builder.take("uni");
    if (!builder.nextModifier().empty())
      builder.fail("unknown modifier '." + builder.nextModifier() + "'");
    call(each);
  } else {
    builder.take("uni");
    if (name == "ret" && inCall()) {
      returns.push_back(kernel.code.size());
      builder.instruction.kind = Instruction::Kind::Branch;
    } else
      builder.instruction.kind = name == "trap" ? Instruction::Kind::Trap : Instruction::Kind::Exit;
    builder.finish();
    append(builder);
  }
  return true;
}

void FunctionDecoder::branch(const Statement &each, const std::vector<std::string> &labels,
                             bool indirect, Builder &builder) {
  builder.instruction.kind =
      indirect ? Instruction::Kind::IndirectBranch : Instruction::Kind::Branch;
  builder.finish();
  fixups.push_back({kernel.code.size(), labels, indirect, open, each.line});
  append(builder);
}

void FunctionDecoder::resolveLabels(size_t firstFixup) {
  for (size_t i = firstFixup; i < fixups.size(); ++i) {
    Fixup &fixup = fixups[i];
    auto resolve = [&](const std::string &label) -> uint32_t {
      for (auto scope = fixup.scopes.rbegin(); scope != fixup.scopes.rend(); ++scope)
        if (auto found = scopes[*scope].labels.find(label); found != scopes[*scope].labels.end())
          return found->second;
      fail(fixup.line, "label '" + label + "' is not defined");
    };
    Instruction &instruction = kernel.code[fixup.instruction];
    if (!fixup.indirect) {
      instruction.target = resolve(fixup.labels[0]);
      continue;
    }
    for (size_t scope : fixup.scopes)
      if (auto list = scopes[scope].targetLists.find(fixup.labels[0]);
          list != scopes[scope].targetLists.end())
        for (const std::string &label : list->second)
          instruction.targets.push_back(resolve(label));
    if (instruction.targets.empty())
      fail(fixup.line, "list of targets '" + fixup.labels[0] + "' is not defined");
  }
  fixups.resize(firstFixup);
}

/// `call (results), function, (arguments);` where results and arguments are .param variables.
void FunctionDecoder::call(const Statement &each) {
  Builder builder(*this, each);
  if (!each.guard.empty())
    builder.fail("a predicated call is not supported");
  size_t next = 0;
  std::vector<Expression> results, arguments;
  if (!each.operands.empty() && each.operands[0].kind == Expression::Kind::List)
    results = each.operands[next++].children;
  std::string name = next < each.operands.size() ? each.operands[next++].name : "";
  if (next < each.operands.size() && each.operands[next].kind == Expression::Kind::List)
    arguments = each.operands[next++].children;
  auto callee = module.syntax.functions.find(name);
  if (next < each.operands.size() || callee == module.syntax.functions.end())
    builder.fail("only direct calls of functions are supported");
  if (!callee->second.hasBody)
    builder.fail("function '" + name + "' is declared but not defined in this module");
  if (results.size() != callee->second.results.size() ||
      arguments.size() != callee->second.parameters.size())
    builder.fail("call of '" + name + "' with the wrong number of arguments or results");
  Symbols bindings;
  auto bind = [&](const Declaration &parameter, const Expression &argument) {
    const Symbol *symbol = lookup(argument.name);
    if (parameter.space != Space::Param || !symbol || symbol->kind != Symbol::Kind::Variable)
      builder.fail("call of '" + name + "': only .param arguments are supported");
    bindings[parameter.name] = *symbol;
  };
  for (size_t i = 0; i < results.size(); ++i)
    bind(callee->second.results[i], results[i]);
  for (size_t i = 0; i < arguments.size(); ++i)
    bind(callee->second.parameters[i], arguments[i]);
  ++depth; // recursion was refused by layOutShared
  decodeBody(callee->second, std::move(bindings));
  --depth;
}

const Symbol *FunctionDecoder::lookup(const std::string &name) {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  for (auto index = open.rbegin(); index != open.rend(); ++index) {
    Symbols &symbols = scopes[*index].symbols;
    if (auto found = symbols.find(name); found != symbols.end())
      return &found->second;
    auto family = symbols.find(name.substr(0, digits));
    if (digits == name.size() || family == symbols.end() ||
        family->second.kind != Symbol::Kind::Family || name.size() - digits > 9 ||
        std::stoul(name.substr(digits)) >= family->second.count)
      continue;
    Symbol symbol = family->second;
    symbol.kind = Symbol::Kind::Register;
    symbol.operand = allocateRegister(symbol.bytes);
    return &(symbols[name] = symbol);
  }
  if (auto found = shared.find(name); found != shared.end())
    return &found->second;
  if (auto found = module.variables.find(name); found != module.variables.end())
    return &found->second;
  return nullptr;
}

uint32_t FunctionDecoder::allocateRow(uint32_t bytes) {
  uint32_t offset = kernel.registerFileBytes;
  kernel.registerFileBytes += bytes * warpSize;
  return offset;
}

Operand FunctionDecoder::allocateRegister(uint32_t bytes) {
  uint32_t index = kernel.registerCount++;
  if (bytes)
    return {allocateRow(bytes), index};
  if (predicatesLeft == 0) { // a row of 16-bit lanes holds 16 predicates
    predicateOffset = allocateRow(2);
    predicatesLeft = 16;
  }
  --predicatesLeft;
  return {predicateOffset + 4 * predicatesLeft, index};
}

Operand FunctionDecoder::constant(uint64_t bits, uint32_t bytes) {
  if (bytes == 0)
    bits = bits ? ~uint64_t(0) : 0;
  auto [place, isNew] = constants.try_emplace({bytes, bits});
  if (isNew) {
    place->second = {allocateRow(std::max(2u, bytes)), 0};
    kernel.constants.push_back({place->second.offset, bytes ? bytes : 4, bits});
  }
  return place->second;
}

std::optional<Operand> FunctionDecoder::special(const std::string &name, uint32_t &bytes) {
  static const std::map<std::string, Special> names = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NwarpId},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NsmId},
      {"%gridid", Special::GridId},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%dynamic_smem_size", Special::DynamicSmemSize},
      {"%total_smem_size", Special::TotalSmemSize}};
  if (name == "WARP_SZ") {
    bytes = 4;
    return constant(warpSize, 4);
  }
  auto found = names.find(name);
  if (found == names.end())
    return std::nullopt;
  bytes = found->second == Special::GridId ? 8 : 4;
  auto [place, isNew] = specials.try_emplace(name);
  if (isNew) {
    place->second = {Operand{allocateRow(bytes), 0}, bytes};
    kernel.specials.push_back({place->second.first.offset, found->second, bytes == 8});
  }
  return place->second.first;
}
