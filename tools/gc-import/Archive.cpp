#include "tools/gc-import/Archive.h"

#include "runtime/process/Nearest.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace gc::importer {

using namespace runtime;

// A network has some thousands of tensors; a directory of millions is meant to use up memory.
static constexpr uint64_t maxEntries = 200'000;

Error Archive::bad(const std::string &what) const {
  return badInput(fmt::format("'{}' {}", file, what));
}

static std::string reasonOf(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Result<Archive> Archive::open(const std::string &path) {
  Archive archive;
  archive.file = path;
  struct stat status;
  if (::stat(path.c_str(), &status) != 0)
    return badInput(fmt::format("cannot open '{}': {}{}", path, std::strerror(errno),
                                didYouMean(nearestFile(path))));
  if (!S_ISREG(status.st_mode))
    return archive.bad("is not a regular file");
  int code = 0;
  archive.handle = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (!archive.handle && code == ZIP_ER_EXISTS)
    return archive.bad("has two entries of one name");
  if (!archive.handle)
    return archive.bad(fmt::format("is not a whole zip archive ({}): expected a file that "
                                   "torch.export.save wrote",
                                   reasonOf(code)));
  zip_int64_t count = zip_get_num_entries(archive.handle, 0);
  if (count < 1 || static_cast<uint64_t>(count) > maxEntries)
    return archive.bad(fmt::format("has {} entries, expected 1 to {}", count, maxEntries));
  for (uint64_t index = 0; index < static_cast<uint64_t>(count); ++index)
    if (Status added = archive.addEntry(index, static_cast<uint64_t>(status.st_size)); !added)
      return added.error();
  return archive;
}

/// Whether a path leads out of its folder, or is none that PyTorch would write.
static bool isUnsafe(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != name.npos ||
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return true;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    std::string_view part = name.substr(begin, end - begin);
    if (part == ".." || part == "." || (part.empty() && end < name.size()))
      return true;
    begin = end + 1;
  }
  return false;
}

Status Archive::addEntry(uint64_t index, uint64_t fileBytes) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(handle, index, 0, &stat) != 0 || (stat.valid & needed) != needed)
    return bad(fmt::format("is damaged: its entry {} has no name or size", index));
  std::string name = stat.name;
  if (isUnsafe(name))
    return bad(fmt::format("has an entry '{}' outside of its own folder", name.substr(0, 200)));
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE)
    return bad(fmt::format("has an encrypted entry '{}'", name));
  // Entries that lie on top of each other make a small file look large.
  packed += std::min(stat.comp_size, fileBytes + 1);
  if (packed > fileBytes)
    return bad(
        fmt::format("is damaged: its entries claim more bytes than the {} of the file", fileBytes));
  bool stored = stat.comp_method == ZIP_CM_STORE;
  if (stored && stat.size != stat.comp_size)
    return bad(fmt::format("is damaged: entry '{}' claims two sizes, {} and {}", name, stat.size,
                           stat.comp_size));
  size_t slash = name.find('/');
  if (slash == name.npos)
    return bad(fmt::format("has an entry '{}' in no folder: expected a file that "
                           "torch.export.save wrote",
                           name));
  if (root.empty())
    root = name.substr(0, slash);
  else if (root != name.substr(0, slash))
    return bad(
        fmt::format("has entries in two folders, '{}' and '{}'", root, name.substr(0, slash)));
  if (!entries.emplace(name.substr(slash + 1), Entry{index, stat.size, stored}).second)
    return bad(fmt::format("has two entries '{}'", name));
  return {};
}

Archive::Archive(Archive &&other) noexcept
    : file(std::move(other.file)), root(std::move(other.root)),
      handle(std::exchange(other.handle, nullptr)), entries(std::move(other.entries)),
      packed(other.packed) {}

Archive::~Archive() {
  if (handle)
    zip_discard(handle);
}

Status Archive::read(const std::string &name, const Entry &entry,
                     const std::function<Status(std::string_view)> &take) {
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> open(zip_fopen_index(handle, entry.index, 0),
                                                          zip_fclose);
  if (!open)
    return bad(
        fmt::format("is damaged: entry '{}' cannot be read ({})", name, zip_strerror(handle)));
  std::vector<char> piece(size_t{1} << 20);
  uint64_t done = 0;
  while (true) {
    zip_int64_t got = zip_fread(open.get(), piece.data(), piece.size());
    if (got < 0) // also where the checksum is wrong, which the last read finds
      return bad(fmt::format("is damaged: entry '{}' cannot be read ({})", name,
                             zip_file_strerror(open.get())));
    if (got == 0)
      break;
    done += static_cast<uint64_t>(got);
    if (done > entry.bytes)
      return bad(fmt::format("is damaged: entry '{}' has more than the {} bytes that it claims",
                             name, entry.bytes));
    if (Status taken = take(std::string_view(piece.data(), static_cast<size_t>(got))); !taken)
      return taken;
  }
  if (done != entry.bytes)
    return bad(
        fmt::format("is damaged: entry '{}' has {} bytes and claims {}", name, done, entry.bytes));
  return {};
}

Result<std::string> Archive::readText(const std::string &name, uint64_t most) {
  auto found = entries.find(name);
  if (found == entries.end())
    return bad(fmt::format("has no '{}': expected a file that torch.export.save of PyTorch 2.9 or "
                           "newer wrote (older archives hold pickled weights, which are never "
                           "read); export the model again",
                           name));
  if (found->second.bytes > most)
    return bad(fmt::format("has a '{}' of {} bytes, more than the {} that are read", name,
                           found->second.bytes, most));
  std::string text;
  Status done = read(name, found->second, [&](std::string_view piece) -> Status {
    text.append(piece);
    return {};
  });
  if (!done)
    return done.error();
  return text;
}

Status Archive::readBytes(const std::string &name, uint64_t bytes,
                          const std::function<Status(std::string_view)> &take) {
  auto found = entries.find(name);
  if (found == entries.end())
    return bad(fmt::format("lacks '{}', which its tables name", name));
  // torch.export.save never compresses tensors; a few bytes that become gigabytes are an attack.
  if (!found->second.stored)
    return bad(fmt::format("has compressed tensors ('{}'): expected a file that torch.export.save "
                           "wrote, unchanged",
                           name));
  if (found->second.bytes != bytes)
    return bad(fmt::format("has {} bytes in '{}', and its tables say {}", found->second.bytes, name,
                           bytes));
  return read(name, found->second, take);
}

} // namespace gc::importer
