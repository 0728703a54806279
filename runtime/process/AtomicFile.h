// A file that appears whole or not at all: written without a name, or beside its final one, flushed
// to the disk, then put in the place of the old one. Until commit() succeeds, whatever was there
// before stays untouched.
//
// Where the file system can (O_TMPFILE: ext4, xfs, btrfs, tmpfs, ...), the file has no name before
// it is whole, so that nothing is left behind however the process ends. Elsewhere it is
// `.NAME.gc-partial`, which is removed on failures and on signals that can be caught; the next
// writer takes a stale one over.
#ifndef GC_RUNTIME_PROCESS_ATOMICFILE_H
#define GC_RUNTIME_PROCESS_ATOMICFILE_H

#include "runtime/Error.h"
#include "runtime/process/TemporaryNames.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace gc::runtime {

/// Move-only. Destroyed without commit(), it removes what it wrote.
class AtomicFile {
public:
  enum class Naming { NamelessWherePossible, AlwaysNamed };

  /// Fails (bad input) where the directory is missing or not writable. A symbolic link is followed.
  static Result<AtomicFile> create(const std::string &path,
                                   Naming naming = Naming::NamelessWherePossible);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  /// Fails (run failed) on a full disk or any other write error; the file cannot be used
  /// afterwards.
  Status write(const void *data, size_t bytes);
  Status write(std::string_view text) { return write(text.data(), text.size()); }
  Status commit();

private:
  AtomicFile() = default;
  bool openNameless(const std::string &directory);
  bool openNamed();
  /// Gives the nameless file its final name.
  bool link();

  std::string path;
  std::string partial; // the name that it has until commit(); empty: none
  TemporaryName removedOnSignal;
  int fd = -1;
};

/// The common case: one text.
Status writeFileAtomically(const std::string &path, std::string_view text);

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_ATOMICFILE_H
