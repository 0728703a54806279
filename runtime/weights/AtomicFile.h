// A file that appears whole or not at all: written beside its final name, flushed to the disk, then
// renamed over the old one. Until commit() succeeds, whatever was there before stays untouched.
#ifndef GC_RUNTIME_WEIGHTS_ATOMICFILE_H
#define GC_RUNTIME_WEIGHTS_ATOMICFILE_H

#include "runtime/Error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace gc::runtime {

/// Move-only. Destroyed without commit(), it removes what it wrote.
class AtomicFile {
public:
  /// Fails (bad input) where the directory is missing or not writable.
  static Result<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  /// Fails (run failed) on a full disk or any other write error; the file cannot be used
  /// afterwards.
  Result<void> write(const void *data, size_t bytes);
  Result<void> write(std::string_view text) { return write(text.data(), text.size()); }
  Result<void> commit();

private:
  AtomicFile() = default;
  std::string path, temporary;
  int fd = -1;
};

/// The common case: one text.
Result<void> writeFileAtomically(const std::string &path, std::string_view text);

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_ATOMICFILE_H
