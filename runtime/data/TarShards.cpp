#include "runtime/data/TarShards.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/ListText.h"
#include "runtime/data/TarArchive.h"
#include "runtime/data/images/EncodedImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gc::runtime {

namespace {

struct ShardImage {
  uint64_t begin = 0, end = 0;
  uint32_t shard = 0;
  int32_t label = 0;
};

class ShardImages final : public ImageSource {
public:
  ShardImages(std::string names) : names(std::move(names)) {}

  std::vector<OpenFile> files;
  std::vector<std::string> paths; // of the files
  std::vector<ShardImage> images;

  int64_t size() const override { return static_cast<int64_t>(images.size()); }
  int64_t label(int64_t index) const override { return at(index).label; }
  const std::string &name() const override { return names; }
  std::string sampleName(int64_t index) const override {
    return fmt::format("'{}': the image at byte {}", paths[at(index).shard], at(index).begin);
  }
  bool mayBeBroken() const override { return true; }
  size_t scratchBytes() const override { return kEncodedImageScratchBytes; }

  Status visit(int64_t index, uint8_t *scratch, ImageVisitor &visitor) const override {
    const ShardImage &image = at(index);
    Status done = visitEncodedImage(files[image.shard], image.begin, image.end, scratch, visitor);
    if (!done)
      return badInput(
          fmt::format("{} cannot be used: {}", sampleName(index), done.error().message));
    return done;
  }

  /// Labels and sizes of all images, and the beginnings of some.
  Result<uint64_t> fingerprint() const override {
    constexpr int64_t mostLookedInto = 1024;
    Fingerprint print;
    int64_t stride = (size() + mostLookedInto - 1) / mostLookedInto;
    std::vector<char> piece(1 << 14);
    for (int64_t i = 0; i < size(); ++i) {
      const ShardImage &image = at(i);
      uint64_t bytes = image.end - image.begin;
      print.add(static_cast<uint64_t>(image.label)).add(bytes);
      if (i % stride)
        continue;
      Result<size_t> got = files[image.shard].read(image.begin, piece.data(),
                                                   std::min<uint64_t>(bytes, piece.size()));
      if (!got)
        return got.error();
      print.add(piece.data(), *got);
    }
    return print.value();
  }

private:
  const ShardImage &at(int64_t index) const { return images[static_cast<size_t>(index)]; }
  std::string names;
};

/// The image and the class of one key, which come one after the other in any order.
struct Pending {
  std::string key;
  std::optional<TarMember> image;
  std::optional<int32_t> label;
};

class ShardReader {
public:
  ShardReader(ShardImages &all, uint64_t &others) : all(all), others(others) {}

  Status read(const std::string &path) {
    Result<OpenFile> file = OpenFile::open(path);
    if (!file)
      return file.error();
    all.files.push_back(std::move(*file));
    all.paths.push_back(path);
    Status done = readTar(all.files.back(), path,
                          [&](const TarMember &member) { return take(path, member); });
    return done ? finish(path) : done;
  }

private:
  Status take(const std::string &path, const TarMember &member) {
    // A key ends at the first dot behind the last slash, as WebDataset has it.
    size_t slash = member.name.rfind('/');
    size_t dot = member.name.find('.', slash == std::string::npos ? 0 : slash + 1);
    std::string ending = dot == std::string::npos ? "" : member.name.substr(dot + 1);
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    bool isImage = ending == "jpg" || ending == "jpeg" || ending == "png";
    if (!isImage && ending != "cls") {
      ++others;
      return {};
    }
    std::string key = member.name.substr(0, dot);
    if (key != pending.key)
      if (Status done = finish(path); !done)
        return done;
    pending.key = key;
    if (isImage) {
      if (pending.image)
        return badInput(fmt::format("'{}' has two images for '{}'", path, key));
      pending.image = member;
      return {};
    }
    Result<int32_t> label = readLabel(path, member);
    if (!label)
      return label.error();
    pending.label = *label;
    return {};
  }

  Result<int32_t> readLabel(const std::string &path, const TarMember &member) {
    char text[24] = {};
    uint64_t bytes = member.end - member.begin;
    Result<size_t> got =
        all.files.back().read(member.begin, text, std::min<uint64_t>(bytes, sizeof text));
    if (!got)
      return got.error();
    std::string_view digits(text, *got);
    digits = digits.substr(0, digits.find_last_not_of(" \r\n") + 1);
    int32_t label = 0;
    auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
    if (bytes > sizeof text || problem != std::errc() || stop != digits.data() + digits.size())
      return badInput(fmt::format("'{}': '{}' is not the number of a class", path, member.name));
    return label;
  }

  /// What was collected is a sample, or a mistake.
  Status finish(const std::string &path) {
    if (pending.image.has_value() != pending.label.has_value())
      return badInput(fmt::format("'{}' has {} for '{}'", path,
                                  pending.image ? "an image but no class (.cls)"
                                                : "a class but no image (.jpg, .jpeg or .png)",
                                  pending.key));
    if (pending.image)
      all.images.push_back({pending.image->begin, pending.image->end,
                            static_cast<uint32_t>(all.files.size() - 1), *pending.label});
    pending = {};
    return {};
  }

  ShardImages &all;
  uint64_t &others;
  Pending pending;
};

/// `003` of three digits, and the like.
std::optional<uint64_t> parseRangeEnd(std::string_view text) {
  uint64_t value = 0;
  auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// The names that one name with ranges means, added to `into`.
Status expandInto(const std::string &name, std::vector<std::string> &into) {
  constexpr size_t mostNames = 1 << 20;
  size_t open = name.find('{'), close = name.find('}', open), dots = name.find("..", open);
  if (open == std::string::npos) {
    if (into.size() == mostNames)
      return badInput(fmt::format("'{}' and the names before are more than {}", name, mostNames));
    into.push_back(name);
    return {};
  }
  std::optional<uint64_t> first, last;
  if (close != std::string::npos && dots < close) {
    first = parseRangeEnd(std::string_view(name).substr(open + 1, dots - open - 1));
    last = parseRangeEnd(std::string_view(name).substr(dots + 2, close - dots - 2));
  }
  if (!first || !last || *last < *first)
    return badInput(fmt::format("'{}' has a range that is none; expected {{FIRST..LAST}}, such as "
                                "shard-{{000000..000009}}.tar",
                                name));
  for (uint64_t number = *first; number <= *last; ++number) {
    std::string one = fmt::format("{}{:0{}}{}", name.substr(0, open), number, dots - open - 1,
                                  name.substr(close + 1));
    if (Status done = expandInto(one, into); !done)
      return done;
  }
  return {};
}

} // namespace

Result<std::vector<std::string>> expandBraces(const std::string &names) {
  std::vector<std::string> all;
  for (const std::string &name : splitText(names, ','))
    if (Status done = expandInto(name, all); !done)
      return done.error();
  return all;
}

Result<TarShards> openTarShards(const std::string &names) {
  Result<std::vector<std::string>> paths = expandBraces(names);
  if (!paths)
    return paths.error();
  TarShards shards;
  auto images = std::make_unique<ShardImages>(names);
  ShardReader reader(*images, shards.others);
  for (const std::string &path : *paths)
    if (Status done = reader.read(path); !done)
      return done.error();
  if (images->images.empty())
    return badInput(fmt::format("'{}' has no samples; a sample is KEY.jpg (or .jpeg, .png) beside "
                                "KEY.cls",
                                names));
  shards.files = images->files.size();
  shards.images = std::move(images);
  return shards;
}

} // namespace gc::runtime
