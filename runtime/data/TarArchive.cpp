#include "runtime/data/TarArchive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace gc::runtime {

namespace {

constexpr uint64_t kBlock = 512;
using Header = std::array<char, kBlock>;

std::string_view field(const Header &header, size_t begin, size_t bytes) {
  std::string_view text(header.data() + begin, bytes);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

/// Octal digits, or 256-based behind a byte of 0x80; nothing where it is neither.
std::optional<uint64_t> number(const Header &header, size_t begin, size_t bytes) {
  uint64_t value = 0;
  if (static_cast<unsigned char>(header[begin]) == 0x80) {
    for (size_t i = begin + 1; i < begin + bytes; ++i) {
      if (value >> 56)
        return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(header[i]);
    }
    return value;
  }
  std::string_view text = field(header, begin, bytes);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  std::string_view rest(stop, static_cast<size_t>(text.data() + text.size() - stop));
  if (problem != std::errc() || rest.find_first_not_of(' ') != std::string_view::npos)
    return std::nullopt;
  return value;
}

bool hasGoodChecksum(const Header &header) {
  uint64_t sum = 8 * ' '; // the checksum's own field counts as blanks
  for (size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? 0 : static_cast<unsigned char>(header[i]);
  return number(header, 148, 8) == sum;
}

/// The records "LENGTH KEY=VALUE\n" of a pax header that matter here.
void applyPax(std::string_view text, std::string &name, std::optional<uint64_t> &size) {
  while (!text.empty()) {
    size_t length = 0;
    auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
    size_t digits = static_cast<size_t>(stop - text.data());
    if (problem != std::errc() || length <= digits + 1 || length > text.size())
      return;
    std::string_view record = text.substr(digits + 1, length - digits - 2);
    if (record.starts_with("path="))
      name = record.substr(5);
    uint64_t value = 0;
    if (record.starts_with("size=") &&
        std::from_chars(record.data() + 5, record.data() + record.size(), value).ec == std::errc())
      size = value;
    text.remove_prefix(length);
  }
}

} // namespace

Status readTar(const OpenFile &file, const std::string &path,
               const std::function<Status(const TarMember &)> &each) {
  auto bad = [&](const std::string &what) { return badInput(fmt::format("'{}' {}", path, what)); };
  std::string longName;
  std::optional<uint64_t> longSize;
  uint64_t offset = 0;
  while (offset < file.bytes()) {
    Header header;
    Result<size_t> got = file.read(offset, header.data(), kBlock);
    if (!got)
      return bad(got.error().message);
    if (*got < kBlock)
      return bad(fmt::format("is truncated: its header at byte {} is not whole", offset));
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == 0; }))
      return {}; // the end
    std::optional<uint64_t> size = number(header, 124, 12);
    if (!size || !hasGoodChecksum(header))
      return bad(fmt::format("is not a tar archive or damaged: the header at byte {} is wrong "
                             "(compressed archives must be unpacked first)",
                             offset));
    const char kind = header[156];
    const bool isName = kind == 'L', isPax = kind == 'x';
    if (!isName && !isPax && kind != 'g' && longSize)
      size = longSize;
    uint64_t begin = offset + kBlock, end = 0;
    if (__builtin_add_overflow(begin, *size, &end) || end > file.bytes())
      return bad(fmt::format("is truncated: the file at byte {} has {} bytes, the archive ends "
                             "before",
                             offset, *size));
    if (isName || isPax) {
      constexpr uint64_t mostBytes = 1 << 20;
      if (*size > mostBytes)
        return bad(fmt::format("is damaged: a name at byte {} has {} bytes", offset, *size));
      std::string text(*size, '\0');
      got = file.read(begin, text.data(), text.size());
      if (!got)
        return bad(got.error().message);
      if (isName)
        longName = text.substr(0, text.find('\0'));
      else
        applyPax(text, longName, longSize);
    } else if (kind != 'g') {
      if (kind == '0' || kind == '\0' || kind == '7') {
        std::string name = longName;
        if (name.empty()) {
          std::string_view prefix =
              std::memcmp(header.data() + 257, "ustar\0", 6) == 0 ? field(header, 345, 155) : "";
          name = prefix.empty() ? std::string(field(header, 0, 100))
                                : fmt::format("{}/{}", prefix, field(header, 0, 100));
        }
        if (Status done = each({std::move(name), begin, end}); !done)
          return done;
      }
      longName.clear();
      longSize.reset();
    }
    offset = end + (kBlock - end % kBlock) % kBlock;
  }
  return {};
}

} // namespace gc::runtime
