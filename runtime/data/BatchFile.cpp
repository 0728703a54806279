#include "runtime/data/BatchFile.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace gc::runtime {

namespace {

class BatchFile final : public Dataset {
public:
  BatchFile(SafetensorsFile source, std::vector<int64_t> labels, const ModelInput &input)
      : file(std::move(source)), image(*file.find("image")), labels(std::move(labels)),
        planar(input.sampleShape.size() == 3 && input.sampleShape[2] > 1),
        rowCount(planar ? input.sampleShape[0] : 1), sampleElements(input.sampleElements()) {
    if (planar) {
      width = input.sampleShape[1];
      channels = input.sampleShape[2];
      rowsAtOnce = std::max<int64_t>(1, std::min(rowCount, (int64_t{1} << 14) / width));
    }
  }

  int64_t size() const override { return static_cast<int64_t>(labels.size()); }
  int64_t label(int64_t index) const override { return labels[index]; }
  int64_t rows() const override { return rowCount; }
  size_t scratchElements() const override {
    return planar ? static_cast<size_t>(rowsAtOnce * width) : 0;
  }

  Status read(int64_t index, int64_t begin, int64_t end, float *sample,
              float *scratch) const override {
    uint64_t first = static_cast<uint64_t>(index) * sampleElements;
    if (!planar)
      return file.read(image, first * 4, sample, sampleElements * 4);
    for (int64_t row = begin; row < end; row += rowsAtOnce) {
      int64_t pixels = std::min(rowsAtOnce, end - row) * width;
      for (int64_t channel = 0; channel < channels; ++channel) {
        uint64_t source = first + (channel * rowCount + row) * width;
        if (Status got = file.read(image, source * 4, scratch, pixels * 4); !got)
          return got;
        float *target = sample + row * width * channels + channel;
        for (int64_t pixel = 0; pixel < pixels; ++pixel)
          target[pixel * channels] = scratch[pixel];
      }
    }
    return {};
  }

  /// All labels, and all values of small files; of large ones pieces from the beginning to the end.
  Result<uint64_t> fingerprint() const override {
    constexpr uint64_t pieceBytes = 1 << 16, mostPieces = 1024;
    Fingerprint print;
    print.add(labels.data(), labels.size() * sizeof(int64_t));
    uint64_t bytes = image.end - image.begin;
    uint64_t pieces = std::min((bytes + pieceBytes - 1) / pieceBytes, mostPieces);
    uint64_t stride = pieces ? (bytes + pieces - 1) / pieces : 0;
    std::vector<char> piece(pieceBytes);
    for (uint64_t begin = 0; begin < bytes; begin += stride) {
      uint64_t count = std::min({stride, bytes - begin, pieceBytes});
      if (Status got = file.read(image, begin, piece.data(), count); !got)
        return got.error();
      print.add(piece.data(), count);
    }
    return print.add(bytes).value();
  }

private:
  SafetensorsFile file;
  SafetensorsEntry image;
  std::vector<int64_t> labels;
  bool planar; // channels must be interleaved
  int64_t rowCount, sampleElements;
  int64_t width = 0, channels = 0, rowsAtOnce = 0;
};

} // namespace

Result<DataSource> openBatchFile(const std::string &path, const ModelInput &input) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  const SafetensorsEntry *image = file->find("image"), *label = file->find("label");
  if (!image || !label)
    return badInput(fmt::format("'{}' has no tensor '{}'; a batch file holds 'image' (F32) and "
                                "'label' (I64)",
                                path, image ? "label" : "image"));
  // Files have images channels first.
  std::vector<int64_t> expected = input.sampleShape;
  if (expected.size() == 3)
    std::rotate(expected.begin(), expected.begin() + 2, expected.end());
  std::vector<int64_t> sample(image->shape.begin() + (image->shape.empty() ? 0 : 1),
                              image->shape.end());
  if (image->dtype != "F32" || image->shape.empty() || image->shape[0] < 1 || sample != expected) {
    expected.insert(expected.begin(),
                    image->shape.empty() ? 1 : std::max<int64_t>(1, image->shape[0]));
    return badInput(
        fmt::format("'{}': image is {} {}, the model takes F32 {} (any number of samples "
                    "first)",
                    path, image->dtype, shapeText(image->shape), shapeText(expected)));
  }
  if (label->dtype != "I64" || label->shape != std::vector<int64_t>{image->shape[0]})
    return badInput(fmt::format("'{}': label is {} {}, expected I64 [{}], one for each image", path,
                                label->dtype, shapeText(label->shape), image->shape[0]));
  std::vector<int64_t> labels(image->shape[0]);
  if (Status got = file->read(*label, 0, labels.data(), labels.size() * 8); !got)
    return got.error();
  for (size_t i = 0; input.classes > 0 && i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= input.classes)
      return badInput(fmt::format("'{}': sample {} has label {}, the model has classes 0 to {}",
                                  path, i, labels[i], input.classes - 1));
  DataSource source;
  source.description = fmt::format("{}: {} samples", path, labels.size());
  source.train = std::make_unique<BatchFile>(std::move(*file), std::move(labels), input);
  return source;
}

} // namespace gc::runtime
