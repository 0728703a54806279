#include "runtime/data/ByteStream.h"

#include "runtime/process/Nearest.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <zlib.h>

namespace gc::runtime {

struct ByteStream::State {
  std::string path;
  std::FILE *file = nullptr;
  uint64_t fileBytes = 0;
  bool compressed = false, inflating = false, finished = false;
  z_stream zlib = {};
  std::array<uint8_t, 1 << 16> input;

  ~State() {
    if (inflating)
      inflateEnd(&zlib);
    if (file)
      std::fclose(file);
  }
  Error corrupt(const std::string &what) const {
    return badInput(fmt::format("'{}' is {}; fetch it again", path, what));
  }
};

ByteStream::ByteStream(std::unique_ptr<State> state) : state(std::move(state)) {}
ByteStream::ByteStream(ByteStream &&) noexcept = default;
ByteStream::~ByteStream() = default;

Result<ByteStream> ByteStream::open(const std::string &path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = std::fopen(path.c_str(), "rbe");
  struct stat status;
  if (!state->file || ::fstat(::fileno(state->file), &status) != 0)
    return badInput(fmt::format("cannot open '{}': {}{}", path, std::strerror(errno),
                                didYouMean(nearestFile(path))));
  if (!S_ISREG(status.st_mode))
    return badInput(fmt::format("'{}' is not a regular file", path));
  state->fileBytes = static_cast<uint64_t>(status.st_size);
  uint8_t magic[2] = {};
  size_t got = std::fread(magic, 1, 2, state->file);
  std::rewind(state->file);
  state->compressed = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  if (state->compressed) {
    if (inflateInit2(&state->zlib, 15 + 16) != Z_OK) // 16: gzip, not zlib
      return runFailed("zlib cannot be initialized");
    state->inflating = true;
  }
  return ByteStream(std::move(state));
}

uint64_t ByteStream::mostBytes() const {
  // Deflate cannot do better than 1032:1.
  return state->compressed ? state->fileBytes * 1032 + 1032 : state->fileBytes;
}

Result<size_t> ByteStream::readSome(void *target, size_t bytes) {
  State &s = *state;
  if (!s.compressed) {
    size_t got = std::fread(target, 1, bytes, s.file);
    if (got < bytes && std::ferror(s.file))
      return badInput(fmt::format("reading '{}' failed: {}", s.path, std::strerror(errno)));
    return got;
  }
  s.zlib.next_out = static_cast<Bytef *>(target);
  s.zlib.avail_out = static_cast<uInt>(std::min<size_t>(bytes, 1u << 30));
  size_t wanted = s.zlib.avail_out;
  while (s.zlib.avail_out > 0 && !s.finished) {
    if (s.zlib.avail_in == 0) {
      s.zlib.next_in = s.input.data();
      s.zlib.avail_in = static_cast<uInt>(std::fread(s.input.data(), 1, s.input.size(), s.file));
      if (s.zlib.avail_in == 0)
        return s.corrupt("truncated (its gzip stream does not end)");
    }
    int code = inflate(&s.zlib, Z_NO_FLUSH);
    if (code == Z_STREAM_END)
      s.finished = true;
    else if (code != Z_OK)
      return s.corrupt(fmt::format("corrupt (gzip: {})", s.zlib.msg ? s.zlib.msg : zError(code)));
  }
  return wanted - s.zlib.avail_out;
}

Status ByteStream::read(void *target, size_t bytes) {
  uint8_t *next = static_cast<uint8_t *>(target);
  while (bytes > 0) {
    Result<size_t> got = readSome(next, bytes);
    if (!got)
      return got.error();
    if (*got == 0)
      return state->corrupt(fmt::format("truncated: {} more bytes were expected", bytes));
    next += *got;
    bytes -= *got;
  }
  return {};
}

Status ByteStream::expectEnd() {
  uint8_t extra;
  Result<size_t> got = readSome(&extra, 1);
  if (!got)
    return got.error();
  bool trailing = *got != 0;
  // Padding or a second member after the end of a gzip stream is not what these files have.
  if (state->compressed)
    trailing |= state->zlib.avail_in != 0 || std::fgetc(state->file) != EOF;
  if (trailing)
    return state->corrupt("corrupt: there are bytes after the end that its header announces");
  return {};
}

} // namespace gc::runtime
