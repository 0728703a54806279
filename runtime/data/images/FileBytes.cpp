#include "runtime/data/images/FileBytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gc::runtime {

Result<OpenFile> OpenFile::open(const std::string &path) {
  return openAt(AT_FDCWD, path.c_str(), path);
}

Result<OpenFile> OpenFile::openAt(int directory, const char *path, const std::string &name) {
  // O_NONBLOCK: a pipe must not hold the run.
  int descriptor = ::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return badInput(fmt::format("cannot open '{}': {}", name, std::strerror(errno)));
  struct stat status;
  OpenFile file(descriptor, 0);
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return badInput(fmt::format("'{}' is not a regular file", name));
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

OpenFile::~OpenFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Result<size_t> OpenFile::read(uint64_t offset, void *target, size_t count) const {
  size_t done = 0;
  while (done < count) {
    ssize_t got = ::pread(descriptor, static_cast<char *>(target) + done, count - done,
                          static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return badInput(fmt::format("reading failed: {}", std::strerror(errno)));
    if (got == 0)
      break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Result<size_t> FileBytes::readAt(uint64_t offset, void *target, size_t count) const {
  return file.read(offset, target, static_cast<size_t>(std::min<uint64_t>(count, end - offset)));
}

Result<std::pair<const uint8_t *, size_t>> FileBytes::piece() {
  Result<size_t> got = readAt(next, buffer, kBufferBytes);
  if (!got)
    return got.error();
  next += *got;
  return std::pair<const uint8_t *, size_t>(buffer, *got);
}

} // namespace gc::runtime
