#include "runtime/process/AtomicFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gc::runtime {

static std::string parentOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// `.NAME.gc-partial` beside the file; `.NAME.gc-partial1` and so on for those that write at the
/// same time.
static std::string partialName(const std::string &path, int number) {
  size_t slash = path.rfind('/');
  size_t begin = slash == std::string::npos ? 0 : slash + 1;
  // A name may have 255 bytes; this one is longer than what it stands for.
  return path.substr(0, begin) + "." + path.substr(begin, 200) + ".gc-partial" +
         (number ? std::to_string(number) : "");
}

/// Where a symbolic link leads, so that the file it names is replaced and not the link.
static std::string followed(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  std::string result = real ? real : path;
  std::free(real);
  return result;
}

static std::string descriptorPath(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

bool AtomicFile::openNameless(const std::string &directory) {
  fd = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0 && ::access(descriptorPath(fd).c_str(), F_OK) != 0)
    ::close(std::exchange(fd, -1)); // without /proc it could never get a name
  return fd >= 0;
}

bool AtomicFile::openNamed() {
  for (int number = 0; number < 100; ++number) {
    std::string name = partialName(path, number);
    fd = ::open(name.c_str(), O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
      return false;
    // Locked: somebody is writing it now. Unlocked, it is new or stale. Between open() and flock()
    // its writer may have given it its final name: then it is no longer this one.
    bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    struct stat opened, named;
    if (locked && ::fstat(fd, &opened) == 0 && ::stat(name.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino && ::ftruncate(fd, 0) == 0) {
      removedOnSignal = TemporaryName(name);
      partial = std::move(name);
      return true;
    }
    ::close(std::exchange(fd, -1));
  }
  errno = EBUSY;
  return false;
}

Result<AtomicFile> AtomicFile::create(const std::string &path, Naming naming) {
  if (path.empty())
    return badInput("cannot write to an empty file name");
  AtomicFile file;
  struct stat status;
  mode_t mode = 0;
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno == ENAMETOOLONG)
    return badInput(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  if (exists) {
    if (!S_ISREG(status.st_mode))
      return badInput(fmt::format("cannot write '{}': it exists and is not a regular file", path));
    mode = status.st_mode & 0777;
  }
  file.path = exists ? followed(path) : path;
  bool nameless = naming == Naming::NamelessWherePossible && file.openNameless(parentOf(file.path));
  if (!nameless && !file.openNamed())
    return badInput(fmt::format("cannot write '{}': {}; is '{}' a directory that you may write to?",
                                path, std::strerror(errno), parentOf(file.path)));
  if (exists)
    ::fchmod(file.fd, mode);
  return file;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path(std::move(other.path)), partial(std::exchange(other.partial, "")),
      removedOnSignal(std::move(other.removedOnSignal)), fd(std::exchange(other.fd, -1)) {}

AtomicFile::~AtomicFile() {
  if (!partial.empty())
    ::unlink(partial.c_str());
  if (fd >= 0)
    ::close(fd);
}

static Error writeError(const std::string &path) {
  const char *hint = errno == ENOSPC || errno == EDQUOT || errno == EFBIG
                         ? "; free some space or write elsewhere"
                         : "";
  return runFailed(fmt::format("writing '{}' failed: {}{} (what was there before is unchanged)",
                               path, std::strerror(errno), hint));
}

Status AtomicFile::write(const void *data, size_t bytes) {
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

/// Removes what a writer left that was killed between giving a file this name and its final one.
static void removeIfStale(const std::string &name) {
  int other = ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (other < 0)
    return;
  struct stat opened, named;
  if (::flock(other, LOCK_EX | LOCK_NB) == 0 && ::fstat(other, &opened) == 0 &&
      ::stat(name.c_str(), &named) == 0 && opened.st_ino == named.st_ino)
    ::unlink(name.c_str());
  ::close(other);
}

bool AtomicFile::link() {
  std::string source = descriptorPath(fd);
  auto linkAs = [&](const std::string &name) {
    return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (linkAs(path))
    return true;
  if (errno != EEXIST)
    return false;
  // link() replaces nothing, so an old file is replaced by way of another name. Writers of the same
  // file take different ones: a nameless file whose only name was taken away never gets one again.
  // The lock tells the others that the name is in use.
  ::flock(fd, LOCK_EX | LOCK_NB);
  errno = EEXIST;
  for (int number = 0; number < 100 && errno == EEXIST; ++number) {
    std::string name = partialName(path, number);
    removeIfStale(name);
    TemporaryName temporary(name);
    if (!linkAs(name))
      continue;
    if (::rename(name.c_str(), path.c_str()) == 0)
      return true;
    int reason = errno;
    ::unlink(name.c_str());
    errno = reason;
  }
  return false;
}

Status AtomicFile::commit() {
  if (::fsync(fd) != 0)
    return writeError(path);
  if (partial.empty() ? !link() : ::rename(partial.c_str(), path.c_str()) != 0)
    return writeError(path);
  partial.clear();
  removedOnSignal = TemporaryName();
  if (::close(std::exchange(fd, -1)) != 0)
    return writeError(path);
  // The new name itself lives in the directory; without this a power cut could undo it.
  int directory = ::open(parentOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

Status writeFileAtomically(const std::string &path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.error();
  if (Status written = file->write(text); !written)
    return written;
  return file->commit();
}

} // namespace gc::runtime
