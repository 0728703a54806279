// A part of an open file, read in pieces: a whole image, or one that lies in an archive.
#ifndef GC_RUNTIME_DATA_IMAGES_FILEBYTES_H
#define GC_RUNTIME_DATA_IMAGES_FILEBYTES_H

#include "runtime/Error.h"

#include <cstdint>
#include <string>
#include <utility>

namespace gc::runtime {

/// Owns an open file for reading. Move-only.
class OpenFile {
public:
  /// Fails (bad input) unless it is a regular file. `name` is for the message.
  static Result<OpenFile> open(const std::string &path);
  /// The same below an open directory.
  static Result<OpenFile> openAt(int directory, const char *path, const std::string &name);
  OpenFile(OpenFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)), size(other.size) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    std::swap(size, other.size);
    return *this;
  }
  ~OpenFile();

  int fd() const { return descriptor; }
  uint64_t bytes() const { return size; }
  /// As many of the bytes as there are, up to `count`; may be called from several threads. Fails
  /// (bad input) where the system does.
  Result<size_t> read(uint64_t offset, void *target, size_t count) const;

private:
  OpenFile(int descriptor, uint64_t size) : descriptor(descriptor), size(size) {}
  int descriptor;
  uint64_t size;
};

/// The bytes [begin, end) of a file, from the first to the last, through a buffer of the caller's.
/// Owns nothing.
class FileBytes {
public:
  static constexpr size_t kBufferBytes = 1 << 16;

  FileBytes(const OpenFile &file, uint64_t begin, uint64_t end, uint8_t *buffer)
      : file(file), next(begin), end(end), buffer(buffer) {}

  uint64_t left() const { return end - next; }
  /// The next piece, which may be empty only at the end; valid until the next call.
  Result<std::pair<const uint8_t *, size_t>> piece();
  /// Copies bytes from the beginning without taking them.
  Result<size_t> peek(void *target, size_t count) const { return readAt(next, target, count); }

private:
  Result<size_t> readAt(uint64_t offset, void *target, size_t count) const;
  const OpenFile &file;
  uint64_t next, end;
  uint8_t *buffer;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGES_FILEBYTES_H
