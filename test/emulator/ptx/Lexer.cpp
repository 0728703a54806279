#include "test/emulator/ptx/Lexer.h"

#include <bit>
#include <cctype>
#include <charconv>

using namespace gc::emulator::ptx;

namespace {

bool startsWord(char c) {
  return std::isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}
bool continuesWord(char c) { return std::isalnum((unsigned char)c) || c == '_' || c == '$'; }

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skipBlank();
      tokens.push_back(next());
    } while (tokens.back().kind != Token::Kind::End);
    return tokens;
  }

private:
  char at(size_t i) const { return i < text.size() ? text[i] : '\0'; }

  void skipBlank() {
    while (position < text.size()) {
      char c = text[position];
      if (c == '\n') {
        ++line;
        ++position;
      } else if (std::isspace((unsigned char)c) || c == '\0') { // drivers' images end with zeros
        ++position;
      } else if (c == '/' && at(position + 1) == '/') {
        while (position < text.size() && text[position] != '\n')
          ++position;
      } else if (c == '/' && at(position + 1) == '*') {
        size_t end = text.find("*/", position + 2);
        if (end == text.npos)
          throw ParseError(line, "line " + std::to_string(line) + ": comment does not end");
        for (; position < end + 2; ++position)
          line += text[position] == '\n';
      } else {
        return;
      }
    }
  }

  Token make(Token::Kind kind, size_t begin, uint64_t bits = 0) const {
    return {kind, text.substr(begin, position - begin), bits, line};
  }

  Token next() {
    size_t begin = position;
    char c = at(position);
    if (position >= text.size())
      return make(Token::Kind::End, begin);
    if (startsWord(c)) {
      while (continuesWord(at(++position)))
        ;
      return make(Token::Kind::Word, begin);
    }
    if (c == '.' && continuesWord(at(position + 1))) {
      ++position;
      while (continuesWord(at(position)) || at(position) == ':') {
        if (at(position) == ':') { // `.shared::cta`
          if (at(position + 1) != ':')
            break;
          ++position;
        }
        ++position;
      }
      return make(Token::Kind::Dotted, begin + 1);
    }
    if (std::isdigit((unsigned char)c))
      return number(begin);
    if (c == '"') {
      size_t end = text.find('"', position + 1);
      if (end == text.npos)
        throw ParseError(line, "line " + std::to_string(line) + ": string does not end");
      position = end + 1;
      return make(Token::Kind::String, begin);
    }
    ++position;
    return make(Token::Kind::Punctuation, begin);
  }

  uint64_t digits(int base) {
    uint64_t value = 0;
    auto [end, error] =
        std::from_chars(text.data() + position, text.data() + text.size(), value, base);
    if (error != std::errc())
      throw ParseError(line, "line " + std::to_string(line) + ": number is malformed or too large");
    position = end - text.data();
    return value;
  }

  Token number(size_t begin) {
    char kind = std::tolower((unsigned char)at(position + 1));
    if (at(position) == '0' && (kind == 'f' || kind == 'd')) {
      position += 2;
      size_t first = position;
      uint64_t bits = digits(16);
      if (position - first != (kind == 'f' ? 8u : 16u))
        throw ParseError(line, "line " + std::to_string(line) + ": '" +
                                   std::string(text.substr(begin, position - begin)) +
                                   "' has the wrong number of digits");
      return make(kind == 'f' ? Token::Kind::Single : Token::Kind::Double, begin, bits);
    }
    uint64_t bits = 0;
    if (at(position) == '0' && (kind == 'x' || kind == 'b')) {
      position += 2;
      bits = digits(kind == 'x' ? 16 : 2);
    } else {
      size_t end = position;
      while (std::isdigit((unsigned char)at(end)))
        ++end;
      if (at(end) == '.' || at(end) == 'e' || at(end) == 'E') {
        double value = 0;
        auto result = std::from_chars(text.data() + position, text.data() + text.size(), value);
        position = result.ptr - text.data();
        return make(Token::Kind::Double, begin, std::bit_cast<uint64_t>(value));
      }
      bits = digits(at(position) == '0' ? 8 : 10);
    }
    if (at(position) == 'U')
      ++position;
    return make(Token::Kind::Integer, begin, bits);
  }

  std::string_view text;
  size_t position = 0;
  size_t line = 1;
};

} // namespace

std::vector<Token> gc::emulator::ptx::tokenize(std::string_view text) { return Lexer(text).run(); }
