#include "runtime/process/OutputCheck.h"

#include "runtime/process/AtomicFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace gc::runtime {

namespace fs = std::filesystem;

namespace {

/// One file or directory, by whatever name it is reached.
struct Place {
  std::string text;      // how messages call it
  std::string canonical; // without links, `.` and `..`, as far as it exists
  dev_t device = 0;
  ino_t inode = 0; // 0: it does not exist
  bool isFile = true;

  bool operator==(const Place &other) const {
    if (inode && other.inode)
      return device == other.device && inode == other.inode;
    return !inode && !other.inode && canonical == other.canonical;
  }
};

std::string describe(const NamedPath &named, const std::string &path) {
  if (named.flag.starts_with("--"))
    return fmt::format("{}={}", named.flag, path);
  return named.flag.starts_with("-") ? fmt::format("{} {}", named.flag, path)
                                     : fmt::format("{} '{}'", named.flag, path);
}

Place placeOf(const std::string &text, const std::string &path, bool isFile) {
  Place place;
  place.text = text;
  place.isFile = isFile;
  std::error_code failure;
  place.canonical = fs::weakly_canonical(fs::absolute(path, failure), failure).lexically_normal();
  while (place.canonical.size() > 1 && place.canonical.back() == '/')
    place.canonical.pop_back();
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) {
    place.device = status.st_dev;
    place.inode = status.st_ino;
  }
  return place;
}

/// What is named, and the files in it that matter.
void addPlaces(std::vector<Place> &places, const NamedPath &named) {
  if (named.path.empty())
    return;
  places.push_back(
      placeOf(describe(named, named.path), named.path, named.kind == NamedPath::Kind::File));
  for (const std::string &file : named.files) {
    std::string path = (fs::path(named.path) / file).string();
    places.push_back(placeOf(describe(named, named.path) + " (" + file + ")", path, true));
  }
}

/// `log` is a file to which standard output goes.
void addStandardStream(std::vector<Place> &places, int stream, const char *name) {
  struct stat status;
  if (::fstat(stream, &status) != 0 || !S_ISREG(status.st_mode))
    return;
  Place place;
  place.text = name;
  place.device = status.st_dev;
  place.inode = status.st_ino;
  places.push_back(place);
}

Status checkFile(const NamedPath &output) {
  const std::string what = describe(output, output.path);
  struct stat status;
  if (::stat(output.path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      return badInput(fmt::format("{}: it exists and is not a regular file", what));
    if (::access(output.path.c_str(), W_OK) != 0)
      return badInput(
          fmt::format("{}: it exists and cannot be overwritten: {}", what, std::strerror(errno)));
  } else if (errno != ENOENT) {
    return badInput(fmt::format("{}: it cannot be written: {}", what, std::strerror(errno)));
  }
  if (output.path.ends_with('/'))
    return badInput(fmt::format("{}: it names a directory, a file is needed", what));
  fs::path parent = fs::path(output.path).parent_path();
  std::string directory = parent.empty() ? "." : parent.string();
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    return badInput(fmt::format("{}: cannot write to directory '{}': {}", what, directory,
                                std::strerror(errno)));
  Result<AtomicFile> probe = AtomicFile::create(output.path); // gone again at once
  if (!probe)
    return badInput(fmt::format("{}: {}", what, probe.error().message));
  return {};
}

/// Makes the directories that are missing and removes them again.
Status checkDirectory(const NamedPath &output) {
  std::vector<fs::path> missing;
  fs::path existing = output.path;
  std::error_code failure;
  while (!existing.empty() && !fs::exists(existing, failure)) {
    if (failure)
      return badInput(fmt::format("{}: it cannot be written: {}", describe(output, output.path),
                                  failure.message()));
    if (existing.has_filename())
      missing.push_back(existing);
    existing = existing.parent_path();
  }
  if (existing.empty())
    existing = ".";
  auto bad = [&](const fs::path &place, const std::string &why) {
    return badInput(fmt::format("{}: cannot write to directory '{}': {}",
                                describe(output, output.path), place.string(), why));
  };
  if (!fs::is_directory(existing, failure))
    return bad(existing, "a file of that name is there");
  std::vector<fs::path> made;
  Status result;
  for (auto next = missing.rbegin(); next != missing.rend() && result; ++next) {
    if (::mkdir(next->c_str(), 0777) == 0)
      made.push_back(*next);
    else if (errno != EEXIST)
      result = bad(*next, std::strerror(errno));
  }
  std::vector<std::string> names = output.files;
  if (names.empty())
    names.push_back("file");
  for (size_t i = 0; i < names.size() && result; ++i)
    if (Result<AtomicFile> probe = AtomicFile::create((fs::path(output.path) / names[i]).string());
        !probe)
      result = bad(output.path, probe.error().message);
  for (auto last = made.rbegin(); last != made.rend(); ++last)
    ::rmdir(last->c_str());
  return result;
}

/// What exists is judged by itself.
bool liesIn(const Place &inner, const Place &outer) {
  return outer.isFile && !outer.inode && !outer.canonical.empty() &&
         inner.canonical.starts_with(outer.canonical + "/");
}

} // namespace

bool isSamePlace(const std::string &a, const std::string &b) {
  return placeOf("", a, false) == placeOf("", b, false);
}

Status checkOutputs(const std::vector<NamedPath> &outputs, const std::vector<NamedPath> &inputs) {
  std::vector<Place> written, read;
  for (const NamedPath &input : inputs)
    addPlaces(read, input);
  for (const NamedPath &output : outputs) {
    size_t first = written.size();
    addPlaces(written, output);
    for (size_t mine = first; mine < written.size(); ++mine) {
      for (const Place &place : read)
        if (place == written[mine])
          return badInput(fmt::format("{} would overwrite {}, which is read; choose another name",
                                      written[mine].text, place.text));
      for (size_t other = 0; other < first; ++other) {
        // Two directories may be one: what is written in them has different names.
        bool bothDirectories = !written[mine].isFile && !written[other].isFile;
        if (!bothDirectories && written[mine] == written[other])
          return badInput(fmt::format("{} and {} are the same file; give each output its own name",
                                      written[other].text, written[mine].text));
        if (liesIn(written[mine], written[other]) || liesIn(written[other], written[mine]))
          return badInput(fmt::format("{} and {}: one is a file and cannot hold the other",
                                      written[other].text, written[mine].text));
      }
    }
  }
  std::vector<Place> streams;
  addStandardStream(streams, STDOUT_FILENO, "standard output");
  addStandardStream(streams, STDERR_FILENO, "standard error");
  for (const Place &stream : streams)
    for (const Place &place : written)
      if (stream == place)
        return badInput(fmt::format("{} is the file to which {} goes; give it its own name",
                                    place.text, stream.text));
  for (const NamedPath &output : outputs) {
    if (output.path.empty())
      continue;
    bool isFile = output.kind == NamedPath::Kind::File;
    if (Status fine = isFile ? checkFile(output) : checkDirectory(output); !fine)
      return fine;
  }
  return {};
}

} // namespace gc::runtime
