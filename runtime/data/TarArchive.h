// What is in a tar archive, and where: ustar, with the long names and sizes of GNU tar and pax.
#ifndef GC_RUNTIME_DATA_TARARCHIVE_H
#define GC_RUNTIME_DATA_TARARCHIVE_H

#include "runtime/data/images/FileBytes.h"

#include <functional>
#include <string>

namespace gc::runtime {

struct TarMember {
  std::string name;
  uint64_t begin = 0, end = 0; // its bytes in the archive
};

/// Calls `each` for every regular file, in order, until it fails. Fails (bad input) where the
/// archive is truncated or damaged; `path` is for the message.
Status readTar(const OpenFile &file, const std::string &path,
               const std::function<Status(const TarMember &)> &each);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_TARARCHIVE_H
