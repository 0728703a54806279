#include "test/emulator/ptx/Decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace gc::emulator::ptx;

namespace {

/// Places a .global or .const variable and writes its initial value; the rest of it is zero, as PTX
/// says.
void placeVariable(const Declaration &declaration, ModuleScope &scope, Program &program,
                   GlobalMemory &memory) {
  auto fail = [&](const std::string &what) {
    throw ParseError(declaration.line, "line " + std::to_string(declaration.line) + ": variable '" +
                                           declaration.name + "': " + what);
  };
  uint32_t size = sizeOf(declaration.type);
  uint64_t bytes = declaration.elements * size;
  if (declaration.elements == 0) { // open size: as many as it is given
    if (declaration.initial.empty())
      fail("an array of open size needs a value");
    bytes = declaration.initial.size() * size;
  }
  if (declaration.external)
    fail("external variables are not supported: there is no linker");
  if (declaration.initial.size() * size > bytes || bytes > UINT32_MAX)
    fail("more values than elements");
  uint64_t address = memory.allocate(bytes, std::max({declaration.alignment, size, uint32_t(1)}));
  std::vector<std::byte> image(bytes);
  for (size_t i = 0; i < declaration.initial.size(); ++i) {
    const Expression &value = declaration.initial[i];
    uint64_t bits = value.bits;
    if (value.kind == Expression::Kind::Name) {
      auto other = scope.variables.find(value.name);
      if (other == scope.variables.end() || size != 8)
        fail("'" + value.name + "' is not the address of a variable defined before");
      bits = other->second.address;
    } else if (value.kind == Expression::Kind::Double && declaration.type == Type::F32)
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    else if (value.kind == Expression::Kind::Single ? size != 4
             : value.kind == Expression::Kind::Double
                 ? size != 8
                 : value.kind != Expression::Kind::Integer || isFloat(declaration.type))
      fail("a value does not fit the type");
    std::memcpy(image.data() + i * size, &bits, size);
  }
  if (bytes)
    std::memcpy(memory.access(address, bytes, AccessKind::Write), image.data(), bytes);
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = declaration.space;
  symbol.address = address;
  scope.variables[declaration.name] = symbol;
  program.variables.push_back({declaration.name, address, bytes});
}

} // namespace

Module::Module(std::unique_ptr<Program> program) : program_(std::move(program)) {}
Module::~Module() = default;

std::unique_ptr<Module> Module::parse(std::string_view text, GlobalMemory &memory) {
  text = text.substr(0, text.find('\0')); // images often carry their terminator
  ModuleSyntax syntax = parseSyntax(text);
  auto program = std::make_unique<Program>();
  program->version = syntax.version;
  program->target = syntax.target;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    program->lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  ModuleScope scope{syntax, {}};
  for (const Declaration &each : syntax.variables)
    if (each.space != Space::Shared)
      placeVariable(each, scope, *program, memory);
  for (const std::string &name : syntax.entries) {
    const Function &function = syntax.functions.at(name);
    if (function.hasBody)
      FunctionDecoder(scope, function, program->kernels[name]).decode();
  }
  return std::unique_ptr<Module>(new Module(std::move(program)));
}

std::vector<KernelInfo> Module::kernels() const {
  std::vector<KernelInfo> result;
  for (const auto &[name, kernel] : program_->kernels)
    result.push_back(kernel.info);
  return result;
}

const KernelInfo *Module::find(std::string_view name) const {
  auto found = program_->kernels.find(name);
  return found == program_->kernels.end() ? nullptr : &found->second.info;
}

std::string Module::target() const { return program_->target; }
std::string Module::version() const { return program_->version; }
std::vector<Module::Variable> Module::variables() const { return program_->variables; }
