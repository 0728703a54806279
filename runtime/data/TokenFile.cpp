#include "runtime/data/TokenFile.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/images/FileBytes.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace gc::runtime {

namespace {

struct TokenType {
  std::string_view name;
  size_t bytes;
};
constexpr TokenType tokenTypes[] = {{"u16", 2}, {"u32", 4}, {"i32", 4}, {"i64", 8}};

/// The type that a name ends with, and the name without it.
std::pair<std::string, TokenType> splitType(const std::string &argument) {
  size_t colon = argument.rfind(':');
  if (colon != argument.npos)
    for (const TokenType &type : tokenTypes)
      if (std::string_view(argument).substr(colon + 1) == type.name)
        return {argument.substr(0, colon), type};
  return {argument, tokenTypes[0]};
}

class TokenFile final : public Dataset {
public:
  TokenFile(OpenFile file, std::string name, TokenType type, int64_t length, int64_t classes)
      : file(std::move(file)), name(std::move(name)), type(type), length(length), classes(classes),
        samples((static_cast<int64_t>(this->file.bytes() / type.bytes) - 1) / length) {}

  int64_t size() const override { return samples; }
  int64_t label(int64_t) const override { return -1; }
  int64_t rows() const override { return 1; }
  size_t scratchElements() const override {
    return static_cast<size_t>(length) * type.bytes / sizeof(float) + 1;
  }

  Status read(int64_t index, int64_t, int64_t, float *sample, float *scratch) const override {
    auto *bytes = reinterpret_cast<char *>(scratch);
    return tokens(index * length, bytes, [&](int64_t i, int64_t token) {
      auto narrow = static_cast<int32_t>(token);
      std::memcpy(sample + i, &narrow, sizeof narrow);
    });
  }
  Status readLabels(int64_t index, int64_t *labels) const override {
    // They are read to the end of the labels, and widened from the first one on.
    char *bytes = reinterpret_cast<char *>(labels + length) - length * int64_t(type.bytes);
    if (Status got =
            tokens(index * length + 1, bytes, [&](int64_t i, int64_t token) { labels[i] = token; });
        !got)
      return got;
    for (int64_t i = 0; classes > 0 && i < length; ++i)
      if (labels[i] >= classes)
        return badInput(fmt::format("'{}': token {} is {}, the model has tokens 0 to {}{}", name,
                                    index * length + 1 + i, labels[i], classes - 1, otherTypes()));
    return {};
  }

  Result<uint64_t> fingerprint() const override {
    Fingerprint print;
    print.add(file.bytes()).add(type.bytes).add(static_cast<uint64_t>(length));
    constexpr uint64_t pieceBytes = 1 << 16, mostPieces = 1024;
    uint64_t stride = std::max(pieceBytes, file.bytes() / mostPieces);
    std::vector<char> piece(pieceBytes);
    for (uint64_t begin = 0; begin < file.bytes(); begin += stride) {
      size_t count = std::min(pieceBytes, file.bytes() - begin);
      if (Status got = load(begin, piece.data(), count); !got)
        return got.error();
      print.add(piece.data(), count);
    }
    return print.value();
  }

private:
  std::string otherTypes() const {
    return fmt::format(" (read as {}; tokens:FILE:TYPE takes u16, u32, i32 and i64)", type.name);
  }

  Status load(uint64_t offset, void *target, size_t bytes) const {
    Result<size_t> got = file.read(offset, target, bytes);
    if (got && *got == bytes)
      return {};
    return badInput(fmt::format(
        "'{}': {}", name, got ? "it has become shorter while it was read" : got.error().message));
  }

  /// Calls `take` with each of `length` tokens from the first one on, through memory for all.
  template <typename Take> Status tokens(int64_t first, char *bytes, Take take) const {
    uint64_t begin = static_cast<uint64_t>(first) * type.bytes;
    if (Status got = load(begin, bytes, static_cast<size_t>(length) * type.bytes); !got)
      return got;
    for (int64_t i = 0; i < length; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, bytes + static_cast<size_t>(i) * type.bytes, type.bytes);
      if (value > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()))
        return badInput(fmt::format("'{}': token {} is no number from 0 to 2147483647{}", name,
                                    first + i, otherTypes()));
      take(i, static_cast<int64_t>(value));
    }
    return {};
  }

  OpenFile file;
  std::string name;
  TokenType type;
  int64_t length, classes, samples;
};

} // namespace

std::string tokenFilePath(const std::string &argument) { return splitType(argument).first; }

Result<DataSource> openTokenFile(const std::string &spec, const std::string &argument,
                                 const ModelInput &input) {
  if (!input.isTokens || input.sampleShape.size() != 1 || input.labelShape != input.sampleShape)
    return badInput(fmt::format("--data={}: a file of tokens is for a model that takes a row of "
                                "tokens and a label for each; this one takes {} of {} and labels "
                                "of {}, a sample",
                                spec, input.isTokens ? "tokens" : "numbers",
                                shapeText(input.sampleShape), shapeText(input.labelShape)));
  auto [path, type] = splitType(argument);
  Result<OpenFile> file = OpenFile::open(path);
  if (!file)
    return file.error();
  uint64_t bytes = file->bytes();
  int64_t length = input.sampleShape[0];
  if (bytes % type.bytes != 0)
    return badInput(fmt::format("'{}' has {} bytes, which are no tokens of {} bytes ({}; "
                                "tokens:FILE:TYPE takes u16, u32, i32 and i64)",
                                path, bytes, type.bytes, type.name));
  if (bytes / type.bytes <= static_cast<uint64_t>(length))
    return badInput(fmt::format("'{}' has {} tokens, and a sample of the model is {} and the label "
                                "of the last one",
                                path, bytes / type.bytes, length));
  auto tokens = std::make_unique<TokenFile>(std::move(*file), path, type, length, input.classes);
  DataSource source;
  source.description = fmt::format("{}: {} samples of {} tokens", spec, tokens->size(), length);
  source.train = std::move(tokens);
  return source;
}

} // namespace gc::runtime
