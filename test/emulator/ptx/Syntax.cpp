#include "test/emulator/ptx/Syntax.h"
#include "test/emulator/ptx/Lexer.h"

#include <bit>

using namespace gc::emulator::ptx;

namespace {

struct TypeEntry {
  std::string_view name;
  Type type;
  uint32_t bytes;
};
constexpr TypeEntry types[] = {
    {"pred", Type::Pred, 0},     {"b8", Type::B8, 1},      {"b16", Type::B16, 2},
    {"b32", Type::B32, 4},       {"b64", Type::B64, 8},    {"u8", Type::U8, 1},
    {"u16", Type::U16, 2},       {"u32", Type::U32, 4},    {"u64", Type::U64, 8},
    {"s8", Type::S8, 1},         {"s16", Type::S16, 2},    {"s32", Type::S32, 4},
    {"s64", Type::S64, 8},       {"f16", Type::F16, 2},    {"bf16", Type::BF16, 2},
    {"f32", Type::F32, 4},       {"f64", Type::F64, 8},    {"f16x2", Type::F16x2, 4},
    {"bf16x2", Type::BF16x2, 4}, {"f32x2", Type::F32x2, 8}};

class Parser {
public:
  explicit Parser(std::string_view text) : tokens(tokenize(text)) {}

  ModuleSyntax run() {
    while (peek().kind != Token::Kind::End)
      topLevel();
    if (module.target.empty())
      fail(peek(), "there is no .target directive: this is not PTX text");
    return std::move(module);
  }

private:
  [[noreturn]] void fail(const Token &token, const std::string &what) const {
    throw ParseError(token.line, "line " + std::to_string(token.line) + ": " + what);
  }
  static std::string quoted(const Token &token) {
    if (token.kind == Token::Kind::End)
      return "the end of the text";
    return "'" + std::string(token.kind == Token::Kind::Dotted ? "." : "") +
           std::string(token.text) + "'";
  }
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  const Token &take() { return tokens[position < tokens.size() - 1 ? position++ : position]; }
  bool isPunctuation(std::string_view text, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Punctuation && peek(ahead).text == text;
  }
  bool isDotted(std::string_view text) const {
    return peek().kind == Token::Kind::Dotted && peek().text == text;
  }
  bool accept(std::string_view text) { return isPunctuation(text) && (take(), true); }
  bool acceptDotted(std::string_view text) { return isDotted(text) && (take(), true); }
  void expect(std::string_view text) {
    if (!accept(text))
      fail(peek(), "expected '" + std::string(text) + "', found " + quoted(peek()));
  }
  std::string word() {
    if (peek().kind != Token::Kind::Word)
      fail(peek(), "expected a name, found " + quoted(peek()));
    return std::string(take().text);
  }
  uint64_t integer() {
    bool negative = accept("-");
    if (peek().kind != Token::Kind::Integer)
      fail(peek(), "expected a whole number, found " + quoted(peek()));
    uint64_t value = take().bits;
    return negative ? 0 - value : value;
  }
  void skipLine() {
    size_t line = peek().line;
    while (peek().kind != Token::Kind::End && peek().line == line)
      take();
  }
  /// Debugging and tuning change nothing that we execute.
  bool skipIgnored() {
    if (isDotted("file") || isDotted("loc")) {
      skipLine();
      return true;
    }
    if (!acceptDotted("pragma"))
      return false;
    while (!accept(";"))
      if (take().kind != Token::Kind::String && !isPunctuation(",") && !isPunctuation(";"))
        fail(peek(), "expected ';', found " + quoted(peek()));
    return true;
  }
  void skipBraces() {
    while (!isPunctuation("{") && peek().kind != Token::Kind::End)
      take();
    expect("{");
    for (int depth = 1; depth > 0;) {
      if (peek().kind == Token::Kind::End)
        fail(peek(), "a section does not end");
      depth += isPunctuation("{") - isPunctuation("}");
      take();
    }
  }

  void topLevel() {
    if (skipIgnored())
      return;
    if (acceptDotted("version")) {
      module.version = std::string(take().text);
      return;
    }
    if (acceptDotted("target")) {
      module.target = word();
      while (accept(",")) {
        Token token = peek();
        if (std::string option = word(); option != "debug")
          fail(token, "target option '" + option + "' is not supported");
      }
      return;
    }
    if (acceptDotted("address_size")) {
      Token token = peek();
      if (integer() != 64)
        fail(token, "only .address_size 64 is supported");
      return;
    }
    if (acceptDotted("section")) {
      skipBraces();
      return;
    }
    bool external = false;
    for (;;) {
      if (acceptDotted("extern"))
        external = true;
      else if (!acceptDotted("visible") && !acceptDotted("weak") && !acceptDotted("common"))
        break;
    }
    if (isDotted("entry") || isDotted("func"))
      function();
    else if (isDotted("global") || isDotted("const") || isDotted("shared")) {
      for (Declaration &each : declarations(external))
        module.variables.push_back(std::move(each));
    } else
      fail(peek(), "expected a directive, found " + quoted(peek()));
  }

  /// `.shared .align 16 .b8 name[64] = {…}, name2;`
  std::vector<Declaration> declarations(bool external) {
    Declaration shape = declarationType();
    shape.external = external;
    std::vector<Declaration> result;
    do
      result.push_back(declarationName(shape));
    while (accept(","));
    expect(";");
    return result;
  }

  Declaration declarationType() {
    Declaration result;
    result.line = peek().line;
    const Token &space = take();
    if (space.text == "reg")
      result.space = Space::Register;
    else if (space.text == "global")
      result.space = Space::Global;
    else if (space.text == "const")
      result.space = Space::Const;
    else if (space.text == "shared")
      result.space = Space::Shared;
    else if (space.text == "local")
      result.space = Space::Local;
    else if (space.text == "param")
      result.space = Space::Param;
    else
      fail(space, "state space " + quoted(space) + " is not supported");
    uint32_t lanes = 1;
    for (bool typed = false; peek().kind == Token::Kind::Dotted;) {
      const Token &token = take();
      if (token.text == "align")
        result.alignment = integer();
      else if (token.text == "v2" || token.text == "v4")
        lanes = token.text[1] - '0';
      else if (token.text == "ptr" && typed) { // `.param .u64 .ptr .global .align 16 name`
        while (peek().kind == Token::Kind::Dotted)
          if (take().text == "align")
            integer();
      } else if (auto type = typeNamed(token.text); type && !typed) {
        result.type = *type;
        typed = true;
      } else
        fail(token, "unknown attribute " + quoted(token) + " of a declaration");
    }
    if (lanes > 1 && result.space == Space::Register)
      fail(peek(), "registers of vector type are not supported");
    if (lanes > 1 && !result.alignment)
      result.alignment = lanes * sizeOf(result.type);
    result.elements = lanes;
    return result;
  }

  Declaration declarationName(Declaration result) {
    result.line = peek().line;
    result.name = word();
    if (result.space == Space::Register && accept("<")) {
      result.count = integer();
      expect(">");
    }
    while (accept("[")) {
      if (accept("]")) {
        result.elements = 0;
        continue;
      }
      result.elements *= integer();
      expect("]");
    }
    if (accept("="))
      initialiser(result.initial);
    return result;
  }

  void initialiser(std::vector<Expression> &values) {
    if (!accept("{")) {
      values.push_back(operand());
      return;
    }
    while (!accept("}")) {
      initialiser(values);
      accept(",");
    }
  }

  std::vector<Declaration> parameterList() {
    std::vector<Declaration> result;
    expect("(");
    while (!accept(")")) {
      result.push_back(declarationName(declarationType()));
      accept(",");
    }
    return result;
  }

  void dimensions(uint32_t (&out)[3]) {
    for (uint32_t i = 0; i < 3; ++i)
      out[i] = i == 0 || accept(",") ? integer() : 1;
  }

  void function() {
    Function result;
    result.line = peek().line;
    result.entry = take().text == "entry";
    if (!result.entry && isPunctuation("("))
      result.results = parameterList();
    result.name = word();
    if (isPunctuation("("))
      result.parameters = parameterList();
    for (; peek().kind == Token::Kind::Dotted;) {
      const Token &token = take();
      if (token.text == "maxntid")
        dimensions(result.maxThreads);
      else if (token.text == "reqntid")
        dimensions(result.requiredThreads);
      else if (token.text == "minnctapersm" || token.text == "maxnctapersm" ||
               token.text == "maxnreg")
        integer();
      else if (token.text == "pragma")
        take();
      else if (token.text != "noreturn")
        fail(token, "function directive " + quoted(token) + " is not supported");
    }
    if (!accept(";")) {
      result.hasBody = true;
      body(result.body);
    }
    if (result.entry)
      module.entries.push_back(result.name);
    auto [place, isNew] = module.functions.try_emplace(result.name);
    if (!isNew && place->second.hasBody && result.hasBody)
      throw ParseError(result.line, "line " + std::to_string(result.line) + ": function '" +
                                        result.name + "' is defined twice");
    if (isNew || result.hasBody)
      place->second = std::move(result);
  }

  void body(std::vector<Statement> &out) {
    expect("{");
    for (int depth = 1; depth > 0;) {
      Statement next;
      next.line = peek().line;
      if (peek().kind == Token::Kind::End)
        fail(peek(), "a function does not end");
      if (skipIgnored())
        continue;
      if (isPunctuation("{") || isPunctuation("}")) {
        next.kind =
            accept("{") ? Statement::Kind::ScopeBegin : (expect("}"), Statement::Kind::ScopeEnd);
        depth += next.kind == Statement::Kind::ScopeBegin ? 1 : -1;
        if (depth > 0)
          out.push_back(std::move(next));
      } else if (accept(";")) {
      } else if (peek().kind == Token::Kind::Dotted) {
        for (Declaration &each : declarations(false)) {
          next.kind = Statement::Kind::Declaration;
          next.declaration = std::move(each);
          out.push_back(next);
        }
      } else if (peek().kind == Token::Kind::Word && isPunctuation(":", 1)) {
        next.kind = Statement::Kind::Label;
        next.name = word();
        expect(":");
        if (acceptDotted("branchtargets")) {
          next.kind = Statement::Kind::Targets;
          do
            next.operands.push_back(operand());
          while (accept(","));
          expect(";");
        }
        out.push_back(std::move(next));
      } else {
        instruction(next);
        out.push_back(std::move(next));
      }
    }
  }

  void instruction(Statement &out) {
    if (accept("@")) {
      out.guardNegated = accept("!");
      out.guard = word();
    }
    out.line = peek().line;
    out.name = word();
    while (peek().kind == Token::Kind::Dotted)
      out.modifiers.emplace_back(take().text);
    while (!accept(";")) {
      if (!out.operands.empty())
        expect(",");
      out.operands.push_back(operand());
    }
  }

  Expression operand() {
    Expression result = simpleOperand();
    if (accept("|")) {
      Expression pair;
      pair.kind = Expression::Kind::Pair;
      pair.children.push_back(std::move(result));
      pair.children.push_back(simpleOperand());
      return pair;
    }
    return result;
  }

  Expression sequence(Expression::Kind kind, std::string_view end) {
    Expression result;
    result.kind = kind;
    while (!accept(end)) {
      if (!result.children.empty())
        expect(",");
      result.children.push_back(operand());
    }
    return result;
  }

  Expression simpleOperand() {
    Expression result;
    if (accept("{"))
      return sequence(Expression::Kind::Vector, "}");
    if (accept("("))
      return sequence(Expression::Kind::List, ")");
    if (accept("[")) {
      result.kind = Expression::Kind::Address;
      result.children.push_back(simpleOperand());
      if (accept("+"))
        result.bits = integer();
      else if (isPunctuation("-"))
        result.bits = integer();
      expect("]");
      return result;
    }
    result.negated = accept("!");
    bool minus = accept("-");
    const Token &token = take();
    switch (token.kind) {
    case Token::Kind::Word:
      result.name = std::string(token.text);
      if (result.name[0] == '%' && peek().kind == Token::Kind::Dotted) // %tid.x
        result.name += "." + std::string(take().text);
      if (isPunctuation("(")) // generic(symbol)
        fail(token, "operator '" + result.name + "' is not supported");
      break;
    case Token::Kind::Integer:
      result.kind = Expression::Kind::Integer;
      result.bits = minus ? 0 - token.bits : token.bits;
      return result;
    case Token::Kind::Single:
      result.kind = Expression::Kind::Single;
      result.bits = token.bits ^ (minus ? 0x80000000u : 0u);
      return result;
    case Token::Kind::Double:
      result.kind = Expression::Kind::Double;
      result.bits = token.bits ^ (uint64_t(minus) << 63);
      return result;
    default:
      fail(token, "expected an operand, found " + quoted(token));
    }
    if (minus)
      fail(token, "expected a number after '-'");
    return result;
  }

  std::vector<Token> tokens;
  size_t position = 0;
  ModuleSyntax module;
};

} // namespace

std::optional<Type> gc::emulator::ptx::typeNamed(std::string_view name) {
  for (const TypeEntry &each : types)
    if (each.name == name)
      return each.type;
  return std::nullopt;
}

uint32_t gc::emulator::ptx::sizeOf(Type type) { return types[static_cast<size_t>(type)].bytes; }

bool gc::emulator::ptx::isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64;
}

bool gc::emulator::ptx::isSigned(Type type) { return type >= Type::S8 && type <= Type::S64; }

bool gc::emulator::ptx::isInteger(Type type) { return type >= Type::U8 && type <= Type::S64; }

ModuleSyntax gc::emulator::ptx::parseSyntax(std::string_view text) { return Parser(text).run(); }
