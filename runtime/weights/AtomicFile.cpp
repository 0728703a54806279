#include "runtime/weights/AtomicFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gc::runtime {

static std::string parentOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  if (path.empty())
    return badInput("cannot write to an empty file name");
  struct stat status;
  mode_t mode = 0;
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      return badInput(fmt::format("cannot write '{}': it exists and is not a regular file", path));
    mode = status.st_mode & 0777;
  }
  AtomicFile file;
  file.path = path;
  file.temporary = path + ".XXXXXX";
  file.fd = ::mkostemp(file.temporary.data(), O_CLOEXEC);
  if (file.fd < 0)
    return badInput(fmt::format("cannot write '{}': {}; is '{}' a directory that you may write to?",
                                path, std::strerror(errno), parentOf(path)));
  if (mode == 0) { // mkostemp makes private files; a new one gets what open() would have given
    mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  ::fchmod(file.fd, mode);
  return file;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      fd(std::exchange(other.fd, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd < 0)
    return;
  ::close(fd);
  ::unlink(temporary.c_str());
}

static Error writeError(const std::string &path) {
  const char *hint = errno == ENOSPC || errno == EDQUOT || errno == EFBIG
                         ? "; free some space or write elsewhere"
                         : "";
  return runFailed(fmt::format("writing '{}' failed: {}{} (what was there before is unchanged)",
                               path, std::strerror(errno), hint));
}

Result<void> AtomicFile::write(const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t written = ::write(fd, next, bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return writeError(path);
    next += written;
    bytes -= static_cast<size_t>(written);
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (::fsync(fd) != 0)
    return writeError(path);
  if (::close(std::exchange(fd, -1)) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = writeError(path);
    ::unlink(temporary.c_str());
    return error;
  }
  // The rename itself lives in the directory; without this a power cut could undo it.
  int directory = ::open(parentOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

Result<void> writeFileAtomically(const std::string &path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.error();
  if (Result<void> written = file->write(text); !written)
    return written;
  return file->commit();
}

} // namespace gc::runtime
