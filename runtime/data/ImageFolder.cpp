#include "runtime/data/ImageFolder.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/images/EncodedImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace gc::runtime {

namespace fs = std::filesystem;

namespace {

class FolderImages final : public ImageSource {
public:
  /// `root` is an open directory, which it owns.
  FolderImages(std::string directory, int root) : directory(std::move(directory)), root(root) {}
  ~FolderImages() override { ::close(root); }

  void add(const std::string &path, int64_t label) {
    begins.push_back(paths.size());
    paths.append(path).push_back('\0');
    labels.push_back(static_cast<int32_t>(label));
  }

  int64_t size() const override { return static_cast<int64_t>(labels.size()); }
  int64_t label(int64_t index) const override { return labels[static_cast<size_t>(index)]; }
  const std::string &name() const override { return directory; }
  std::string sampleName(int64_t index) const override {
    return fmt::format("'{}'", (fs::path(directory) / path(index)).string());
  }
  bool mayBeBroken() const override { return true; }
  size_t scratchBytes() const override { return kEncodedImageScratchBytes; }

  Status visit(int64_t index, uint8_t *scratch, ImageVisitor &visitor) const override {
    Result<OpenFile> file = open(index);
    if (!file)
      return file.error();
    Status done = visitEncodedImage(*file, 0, file->bytes(), scratch, visitor);
    if (!done)
      return badInput(
          fmt::format("{} cannot be used: {}", sampleName(index), done.error().message));
    return done;
  }

  /// Names, labels and sizes of all files, and the beginnings of some from the first to the last.
  Result<uint64_t> fingerprint() const override {
    constexpr int64_t mostLookedInto = 1024;
    Fingerprint print;
    print.add(paths.data(), paths.size()).add(labels.data(), labels.size() * sizeof labels[0]);
    int64_t stride = (size() + mostLookedInto - 1) / mostLookedInto;
    std::vector<char> piece(1 << 14);
    for (int64_t i = 0; i < size(); ++i) {
      Result<OpenFile> file = open(i);
      if (!file) {
        print.add(0); // a sample that is broken, if it is ever read
        continue;
      }
      print.add(file->bytes());
      if (i % stride)
        continue;
      if (Result<size_t> got = file->read(0, piece.data(), piece.size()))
        print.add(piece.data(), *got);
    }
    return print.value();
  }

private:
  const char *path(int64_t index) const {
    return paths.data() + begins[static_cast<size_t>(index)];
  }
  Result<OpenFile> open(int64_t index) const {
    // The name is made only where it is told.
    Result<OpenFile> file = OpenFile::openAt(root, path(index), "");
    return file ? std::move(file) : OpenFile::openAt(root, path(index), bareName(index));
  }
  std::string bareName(int64_t index) const { return (fs::path(directory) / path(index)).string(); }

  std::string directory;
  int root;
  std::string paths; // one after the other, each ended by a zero: a million names stay compact
  std::vector<uint64_t> begins;
  std::vector<int32_t> labels;
};

bool isImageName(const std::string &name) {
  std::string ending = fs::path(name).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

Error cannotList(const fs::path &directory, const std::string &why) {
  return badInput(fmt::format("cannot list '{}': {}", directory.string(), why));
}

/// The folders in one, sorted by name.
Result<std::vector<std::string>> foldersIn(const std::string &directory) {
  std::error_code failure;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code ignored; // a dangling link is no folder
    if (entry->is_directory(ignored))
      names.push_back(entry->path().filename().string());
  }
  if (failure)
    return cannotList(directory, failure.message());
  std::sort(names.begin(), names.end());
  return names;
}

/// Adds the images of a class, also those of folders in it: folder by folder, sorted, as
/// torchvision does. Their number.
Result<uint64_t> addClass(const std::string &directory, const std::string &name, int64_t label,
                          FolderImages &images, uint64_t &others) {
  std::error_code failure;
  std::vector<std::pair<std::string, std::string>> files; // folder below the root, file in it
  fs::recursive_directory_iterator entry(fs::path(directory) / name,
                                         fs::directory_options::follow_directory_symlink, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    constexpr int mostDepth = 64; // a link to a folder above would never end
    if (entry.depth() > mostDepth)
      return cannotList(entry->path(), "folders within folders without end");
    std::error_code ignored;
    if (entry->is_directory(ignored))
      continue;
    std::string file = entry->path().filename().string();
    if (isImageName(file))
      files.emplace_back(fs::path(entry->path()).parent_path().lexically_relative(directory), file);
    else
      ++others;
  }
  if (failure)
    return cannotList(fs::path(directory) / name, failure.message());
  std::sort(files.begin(), files.end());
  for (const auto &[folder, file] : files)
    images.add(folder + "/" + file, label);
  return files.size();
}

} // namespace

ImageFolders findImageFolders(const std::string &directory) {
  std::error_code ignored;
  fs::path root(directory);
  if (!fs::is_directory(root / "train", ignored))
    return {directory, "", ""};
  ImageFolders found{(root / "train").string(), "", ""};
  for (auto [name, place] : {std::pair("val", &found.validation), std::pair("test", &found.test)})
    if (fs::is_directory(root / name, ignored))
      *place = (root / name).string();
  return found;
}

Result<ImageFolder> openImageFolder(const std::string &directory,
                                    const std::vector<std::string> &classes) {
  int root = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return badInput(
        fmt::format("cannot open the folder '{}': {}", directory, std::strerror(errno)));
  auto images = std::make_unique<FolderImages>(directory, root);
  Result<std::vector<std::string>> names = foldersIn(directory);
  if (!names)
    return names.error();
  if (names->empty())
    return badInput(fmt::format("'{}' has no folders; --data=images:DIR needs one for each class, "
                                "DIR/CLASS/IMAGE.jpg, or DIR/train/CLASS/IMAGE.jpg",
                                directory));
  ImageFolder folder;
  folder.classes = classes.empty() ? *names : classes;
  for (const std::string &name : *names) {
    auto place = std::find(folder.classes.begin(), folder.classes.end(), name);
    if (place == folder.classes.end())
      return badInput(fmt::format("'{}' has a class '{}', which is none of the {} of the training "
                                  "split",
                                  directory, name, folder.classes.size()));
    Result<uint64_t> added =
        addClass(directory, name, place - folder.classes.begin(), *images, folder.others);
    if (!added)
      return added.error();
    if (*added == 0)
      return badInput(fmt::format("class '{}' has no image: there is no .jpg, .jpeg or .png in "
                                  "'{}'; remove the folder or fill it",
                                  name, (fs::path(directory) / name).string()));
  }
  folder.images = std::move(images);
  return folder;
}

} // namespace gc::runtime
