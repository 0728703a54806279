#include "runtime/data/ByteImages.h"

#include "runtime/data/ByteStream.h"

#include <fmt/format.h>

#include <filesystem>

namespace gc::runtime {

namespace fs = std::filesystem;

/// The first of the usual names of the file that exists.
static Result<std::string> findIdxFile(const std::string &directory, const std::string &prefix,
                                       const std::string &what, const std::string &suffix) {
  for (const char *separator : {"-", "."})
    for (const char *ending : {"", ".gz"}) {
      fs::path path = fs::path(directory) / (prefix + "-" + what + separator + suffix + ending);
      std::error_code ignored;
      if (fs::exists(path, ignored))
        return path.string();
    }
  return badInput(
      fmt::format("'{}' has no {}-{}-{} (nor with .gz); --data=mnist:DIR needs the four "
                  "IDX files of MNIST, Debian's package dataset-fashion-mnist has such",
                  directory, prefix, what, suffix));
}

/// Header and bytes of an IDX file of unsigned bytes with the given number of dimensions.
static Result<std::vector<uint8_t>> readIdx(const std::string &path, size_t rank,
                                            std::vector<int64_t> &dimensions) {
  Result<ByteStream> stream = ByteStream::open(path);
  if (!stream)
    return stream.error();
  uint8_t magic[4];
  if (Status got = stream->read(magic, 4); !got)
    return got.error();
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != 8 || magic[3] != rank)
    return badInput(fmt::format("'{}' is not an IDX file of unsigned bytes with {} dimensions: it "
                                "begins with {:02x}{:02x}{:02x}{:02x}, expected 000008{:02x}",
                                path, rank, magic[0], magic[1], magic[2], magic[3], rank));
  uint64_t bytes = 1;
  for (size_t i = 0; i < rank; ++i) {
    uint8_t word[4];
    if (Status got = stream->read(word, 4); !got)
      return got.error();
    uint64_t dimension = uint64_t{word[0]} << 24 | word[1] << 16 | word[2] << 8 | word[3];
    dimensions.push_back(static_cast<int64_t>(dimension));
    if (dimension == 0 || __builtin_mul_overflow(bytes, dimension, &bytes) ||
        bytes > stream->mostBytes())
      return badInput(fmt::format("'{}' is truncated or corrupt: dimension {} is {}, which the "
                                  "file's size does not allow",
                                  path, i, dimension));
  }
  std::vector<uint8_t> data(bytes);
  if (Status got = stream->read(data.data(), bytes); !got)
    return got.error();
  if (Status end = stream->expectEnd(); !end)
    return end.error();
  return data;
}

Result<ByteImages> readIdxSplit(const std::string &directory, const std::string &prefix) {
  Result<std::string> imagePath = findIdxFile(directory, prefix, "images", "idx3-ubyte");
  if (!imagePath)
    return imagePath.error();
  Result<std::string> labelPath = findIdxFile(directory, prefix, "labels", "idx1-ubyte");
  if (!labelPath)
    return labelPath.error();

  std::vector<int64_t> imageShape, labelShape;
  Result<std::vector<uint8_t>> pixels = readIdx(*imagePath, 3, imageShape);
  if (!pixels)
    return pixels.error();
  Result<std::vector<uint8_t>> labels = readIdx(*labelPath, 1, labelShape);
  if (!labels)
    return labels.error();
  if (imageShape[0] != labelShape[0])
    return badInput(fmt::format("'{}' has {} images, but '{}' has {} labels", *imagePath,
                                imageShape[0], *labelPath, labelShape[0]));
  ByteImages images;
  images.name = *labelPath;
  images.count = imageShape[0];
  images.height = imageShape[1];
  images.width = imageShape[2];
  images.channels = 1;
  images.pixels = std::move(*pixels);
  images.labels = std::move(*labels);
  return images;
}

static std::vector<std::string> cifarNames(CifarKind kind, bool train) {
  if (kind == CifarKind::Cifar100)
    return {train ? "train.bin" : "test.bin"};
  if (!train)
    return {"test_batch.bin"};
  return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
          "data_batch_5.bin"};
}

Result<ByteImages> readCifar(CifarKind kind, const std::string &directory, bool train) {
  const bool isHundred = kind == CifarKind::Cifar100;
  const char *setName = isHundred ? "CIFAR-100" : "CIFAR-10";
  // CIFAR-100 has a coarse label before the fine one.
  const int64_t side = 32, plane = side * side, labels = isHundred ? 2 : 1;
  const uint64_t record = static_cast<uint64_t>(labels + 3 * plane);
  ByteImages images;
  images.name = directory;
  images.height = images.width = side;
  images.channels = 3;
  for (const std::string &name : cifarNames(kind, train)) {
    std::string path = (fs::path(directory) / name).string();
    std::error_code failure;
    if (!fs::exists(path, failure))
      return badInput(fmt::format("'{}' has no {}; --data={}:DIR needs the files of {}'s binary "
                                  "version ({})",
                                  directory, name, isHundred ? "cifar100" : "cifar10", setName,
                                  isHundred ? "train.bin and test.bin"
                                            : "data_batch_1.bin ... test_batch.bin"));
    uint64_t bytes = fs::file_size(path, failure);
    if (failure || bytes == 0 || bytes % record != 0)
      return badInput(fmt::format("'{}' is truncated or not of {}'s binary version: its {} bytes "
                                  "are no multiple of {}",
                                  path, setName, failure ? 0 : bytes, record));
    Result<ByteStream> stream = ByteStream::open(path);
    if (!stream)
      return stream.error();
    images.pixels.reserve(images.pixels.size() + bytes / record * 3 * plane);
    std::vector<uint8_t> sample(record);
    for (uint64_t i = 0; i < bytes / record; ++i) {
      if (Status got = stream->read(sample.data(), record); !got)
        return got.error();
      images.labels.push_back(sample[static_cast<size_t>(labels - 1)]);
      const uint8_t *planes = sample.data() + labels;
      for (int64_t pixel = 0; pixel < plane; ++pixel)
        for (int64_t channel = 0; channel < 3; ++channel)
          images.pixels.push_back(planes[channel * plane + pixel]);
    }
  }
  images.count = static_cast<int64_t>(images.labels.size());
  return images;
}

std::vector<std::string> idxFiles(const std::string &directory) {
  std::vector<std::string> files;
  for (const char *prefix : {"train", "t10k"})
    for (const char *what : {"images", "labels"}) {
      const char *suffix = what[0] == 'i' ? "idx3-ubyte" : "idx1-ubyte";
      if (Result<std::string> found = findIdxFile(directory, prefix, what, suffix))
        files.push_back(*found);
    }
  return files;
}

std::vector<std::string> cifarFiles(CifarKind kind, const std::string &directory) {
  std::vector<std::string> files;
  for (bool train : {true, false})
    for (const std::string &name : cifarNames(kind, train))
      if (std::error_code failure; fs::exists(fs::path(directory) / name, failure))
        files.push_back((fs::path(directory) / name).string());
  return files;
}

} // namespace gc::runtime
