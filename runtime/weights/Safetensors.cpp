#include "runtime/weights/Safetensors.h"

#include "runtime/plan/ElementType.h"
#include "runtime/process/Nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

namespace gc::runtime {

using nlohmann::json;

/// The reference implementation's limit; a longer header is a corrupt or hostile length.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

size_t safetensorsElementBytes(std::string_view dtype) {
  const ElementType *type = elementTypeInFile(dtype);
  return type ? type->bytes : 0;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Bytes of a tensor; false on overflow or a negative dimension.
static bool tensorBytes(const std::vector<int64_t> &shape, size_t elementBytes, uint64_t &bytes) {
  bytes = elementBytes;
  for (int64_t dimension : shape)
    if (dimension < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension), &bytes))
      return false;
  return true;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  SafetensorsFile file;
  file.name = path;
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd < 0)
    return badInput(fmt::format("cannot open '{}': {}{}", path, std::strerror(errno),
                                didYouMean(nearestFile(path))));
  struct stat status;
  if (::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode))
    return badInput(fmt::format("'{}' is not a regular file", path));
  uint64_t fileBytes = static_cast<uint64_t>(status.st_size);

  uint64_t headerBytes = 0;
  if (fileBytes < 8 || ::pread(file.fd, &headerBytes, 8, 0) != 8)
    return badInput(fmt::format("'{}' is not a safetensors file: it has {} bytes, a header needs "
                                "at least 8",
                                path, fileBytes));
  if (headerBytes > maxHeaderBytes)
    return badInput(fmt::format("'{}' is not a safetensors file or is corrupt: its header claims "
                                "{} bytes, at most {} are allowed",
                                path, headerBytes, maxHeaderBytes));
  if (headerBytes > fileBytes - 8)
    return badInput(fmt::format("'{}' is truncated: its header claims {} bytes, the file has only "
                                "{} after the length",
                                path, headerBytes, fileBytes - 8));
  std::string header(headerBytes, '\0');
  SafetensorsEntry whole{"U8", {}, 8, 8 + headerBytes};
  if (Status read = file.read(whole, 0, header.data(), headerBytes); !read)
    return read.error();
  if (Status parsed = file.parseHeader(header, 8 + headerBytes, fileBytes); !parsed)
    return parsed.error();
  return file;
}

Status SafetensorsFile::parseHeader(std::string_view text, uint64_t dataBegin, uint64_t fileBytes) {
  auto bad = [&](const std::string &what) {
    return badInput(fmt::format("'{}' is not a valid safetensors file: {}", name, what));
  };
  std::set<std::string> seen;
  std::string duplicate;
  json::parser_callback_t noteNames = [&](int depth, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !seen.insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return true;
  };
  json header = json::parse(text, noteNames, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object())
    return bad("its header is not a JSON object");
  if (!duplicate.empty())
    return bad(fmt::format("tensor '{}' appears twice in its header", duplicate));

  uint64_t dataBytes = fileBytes - dataBegin;
  for (const auto &[tensor, fields] : header.items()) {
    if (tensor == "__metadata__") {
      if (!fields.is_object())
        return bad("its __metadata__ is not an object");
      for (const auto &[key, value] : fields.items()) {
        if (!value.is_string())
          return bad(fmt::format("metadata '{}' is not a string", key));
        strings[key] = value.get<std::string>();
      }
      continue;
    }
    SafetensorsEntry entry;
    if (!fields.is_object() || !fields.contains("dtype") || !fields["dtype"].is_string() ||
        !fields.contains("shape") || !fields["shape"].is_array() ||
        !fields.contains("data_offsets") || !fields["data_offsets"].is_array() ||
        fields["data_offsets"].size() != 2)
      return bad(fmt::format("tensor '{}' lacks a dtype, a shape or two data_offsets", tensor));
    entry.dtype = fields["dtype"].get<std::string>();
    size_t elementBytes = safetensorsElementBytes(entry.dtype);
    if (elementBytes == 0)
      return bad(fmt::format("tensor '{}' has the unknown dtype '{}'", tensor, entry.dtype));
    for (const json &dimension : fields["shape"]) {
      if (!dimension.is_number_unsigned() || dimension.get<uint64_t>() > INT64_MAX)
        return bad(fmt::format("tensor '{}' has a dimension that is not a natural number", tensor));
      entry.shape.push_back(dimension.get<int64_t>());
    }
    const json &offsets = fields["data_offsets"];
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
      return bad(fmt::format("tensor '{}' has data_offsets that are not natural numbers", tensor));
    uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
    if (begin > end)
      return bad(fmt::format("tensor '{}' ends ({}) before it begins ({})", tensor, end, begin));
    if (end > dataBytes)
      return bad(fmt::format("tensor '{}' ends at byte {} of the data, the file has only {}: it is "
                             "truncated or corrupt",
                             tensor, end, dataBytes));
    uint64_t needed = 0;
    if (!tensorBytes(entry.shape, elementBytes, needed) || needed != end - begin)
      return bad(fmt::format("tensor '{}' of shape {} and dtype {} does not fit its {} bytes",
                             tensor, shapeText(entry.shape), entry.dtype, end - begin));
    entry.begin = dataBegin + begin;
    entry.end = dataBegin + end;
    entries.emplace(tensor, std::move(entry));
  }

  // The ranges must tile the data: no overlap, no gap, nothing after the last one.
  std::vector<std::pair<uint64_t, const std::string *>> order;
  for (const auto &[tensor, entry] : entries)
    order.emplace_back(entry.begin, &tensor);
  std::sort(order.begin(), order.end(), [&](const auto &a, const auto &b) {
    return std::pair(a.first, entries.at(*a.second).end) <
           std::pair(b.first, entries.at(*b.second).end);
  });
  uint64_t position = dataBegin;
  const std::string *previous = nullptr;
  for (const auto &[begin, tensor] : order) {
    if (begin < position)
      return bad(fmt::format("tensors '{}' and '{}' overlap", *previous, *tensor));
    if (begin > position)
      return bad(
          fmt::format("there are {} unused bytes before tensor '{}'", begin - position, *tensor));
    position = entries.at(*tensor).end;
    previous = tensor;
  }
  if (position != fileBytes)
    return bad(fmt::format("there are {} bytes after the last tensor", fileBytes - position));
  return {};
}

SafetensorsFile::SafetensorsFile(SafetensorsFile &&other) noexcept
    : name(std::move(other.name)), fd(std::exchange(other.fd, -1)),
      entries(std::move(other.entries)), strings(std::move(other.strings)) {}

SafetensorsFile::~SafetensorsFile() {
  if (fd >= 0)
    ::close(fd);
}

const SafetensorsEntry *SafetensorsFile::find(const std::string &tensor) const {
  auto found = entries.find(tensor);
  return found == entries.end() ? nullptr : &found->second;
}

Status SafetensorsFile::read(const SafetensorsEntry &entry, uint64_t offset, void *target,
                             size_t bytes) const {
  if (offset > entry.end - entry.begin || bytes > entry.end - entry.begin - offset)
    return runFailed(fmt::format("read past the end of a tensor in '{}'", name));
  char *next = static_cast<char *>(target);
  uint64_t position = entry.begin + offset;
  while (bytes > 0) {
    ssize_t got = ::pread(fd, next, bytes, static_cast<off_t>(position));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return badInput(fmt::format("reading '{}' failed at byte {}: {}", name, position,
                                  got < 0 ? std::strerror(errno)
                                          : "the file ended; did it change while being read?"));
    next += got;
    position += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

Status SafetensorsFile::readFloats(const SafetensorsEntry &entry, uint64_t first, float *target,
                                   size_t count) const {
  const ElementType *type = elementTypeInFile(entry.dtype);
  if (!type || !type->toFloats)
    return badInput(
        fmt::format("'{}': expected dtype F32, F64, F16 or BF16, got {}", name, entry.dtype));
  if (entry.dtype == "F32")
    return read(entry, first * 4, target, count * 4);
  std::byte piece[4096];
  for (size_t done = 0; done < count;) {
    size_t part = std::min(count - done, std::size(piece) / type->bytes);
    if (Status got = read(entry, (first + done) * type->bytes, piece, part * type->bytes); !got)
      return got;
    type->toFloats(piece, target + done, part);
    done += part;
  }
  return {};
}

Result<SafetensorsWriter>
SafetensorsWriter::create(const std::string &path, std::vector<SafetensorsDeclaration> tensors,
                          const std::map<std::string, std::string> &metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const auto &a, const auto &b) {
    size_t sizeA = safetensorsElementBytes(a.dtype), sizeB = safetensorsElementBytes(b.dtype);
    return sizeA != sizeB ? sizeA > sizeB : a.name < b.name;
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t position = 0;
  for (const SafetensorsDeclaration &tensor : tensors) {
    uint64_t bytes = 0;
    if (header.contains(tensor.name))
      return runFailed(
          fmt::format("cannot write '{}': two tensors are named '{}'", path, tensor.name));
    if (!tensorBytes(tensor.shape, safetensorsElementBytes(tensor.dtype), bytes))
      return runFailed(fmt::format("cannot write '{}': tensor '{}' has an impossible shape {}",
                                   path, tensor.name, shapeText(tensor.shape)));
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {position, position + bytes}}};
    position += bytes;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' '); // keeps the data aligned

  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.error();
  SafetensorsWriter writer(std::move(*file));
  writer.tensors = std::move(tensors);
  writer.expected = position;
  uint64_t length = text.size();
  if (Status written = writer.file.write(&length, 8); !written)
    return written.error();
  if (Status written = writer.file.write(text); !written)
    return written.error();
  return writer;
}

Status SafetensorsWriter::append(const void *data, size_t bytes) {
  appended += bytes;
  return file.write(data, bytes);
}

Status SafetensorsWriter::finish() {
  if (appended != expected)
    return runFailed(
        fmt::format("internal error: {} tensor bytes written, {} declared", appended, expected));
  return file.commit();
}

} // namespace gc::runtime
