// Bytes of a file, decompressed where the content is gzip.
#ifndef GC_RUNTIME_DATA_BYTESTREAM_H
#define GC_RUNTIME_DATA_BYTESTREAM_H

#include "runtime/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gc::runtime {

/// Move-only; owns the open file.
class ByteStream {
public:
  static Result<ByteStream> open(const std::string &path);
  ByteStream(ByteStream &&) noexcept;
  ~ByteStream();

  /// Fills the target completely, or fails (bad input): truncated or corrupt.
  Status read(void *target, size_t bytes);
  /// Fails unless everything was read (and, in gzip, checksum and length were right).
  Status expectEnd();
  /// No stream of this file can hold more bytes: what a header claims beyond is a lie, found before
  /// memory is asked for.
  uint64_t mostBytes() const;

private:
  struct State;
  ByteStream(std::unique_ptr<State> state);
  Result<size_t> readSome(void *target, size_t bytes);
  std::unique_ptr<State> state;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_BYTESTREAM_H
