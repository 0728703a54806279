#include "runtime/data/FloatSamples.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace gc::runtime {

namespace {

class FloatSamples final : public Dataset {
public:
  FloatSamples(FloatFile source, std::vector<int64_t> labels, const ModelInput &input)
      : source(std::move(source)), labels(std::move(labels)),
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
      return load(first * 4, sample, static_cast<size_t>(sampleElements) * 4);
    for (int64_t row = begin; row < end; row += rowsAtOnce) {
      int64_t pixels = std::min(rowsAtOnce, end - row) * width;
      for (int64_t channel = 0; channel < channels; ++channel) {
        uint64_t place = first + (channel * rowCount + row) * width;
        if (Status got = load(place * 4, scratch, static_cast<size_t>(pixels) * 4); !got)
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
    uint64_t bytes = source.end - source.begin;
    uint64_t pieces = std::min((bytes + pieceBytes - 1) / pieceBytes, mostPieces);
    uint64_t stride = pieces ? (bytes + pieces - 1) / pieces : 0;
    std::vector<char> piece(pieceBytes);
    for (uint64_t begin = 0; begin < bytes; begin += stride) {
      uint64_t count = std::min({stride, bytes - begin, pieceBytes});
      if (Status got = load(begin, piece.data(), count); !got)
        return got.error();
      print.add(piece.data(), count);
    }
    return print.add(bytes).value();
  }

private:
  Status load(uint64_t offset, void *target, size_t bytes) const {
    Result<size_t> got = source.file.read(source.begin + offset, target, bytes);
    if (got && *got == bytes)
      return {};
    return badInput(
        fmt::format("'{}': {}", source.name,
                    got ? "it has become shorter while it was read" : got.error().message));
  }

  FloatFile source;
  std::vector<int64_t> labels;
  bool planar; // channels must be interleaved
  int64_t rowCount, sampleElements;
  int64_t width = 0, channels = 0, rowsAtOnce = 0;
};

} // namespace

Result<std::unique_ptr<Dataset>> makeFloatSamples(FloatFile file, const std::vector<int64_t> &shape,
                                                  std::vector<int64_t> labels,
                                                  const ModelInput &input) {
  std::vector<int64_t> expected = input.sampleShape;
  if (expected.size() == 3)
    std::rotate(expected.begin(), expected.begin() + 2, expected.end());
  std::vector<int64_t> sample(shape.begin() + (shape.empty() ? 0 : 1), shape.end());
  if (shape.empty() || shape[0] < 1 || sample != expected) {
    expected.insert(expected.begin(), shape.empty() ? 1 : std::max<int64_t>(1, shape[0]));
    return badInput(fmt::format("'{}': image is F32 {}, the model takes F32 {} (any number of "
                                "samples first)",
                                file.name, shapeText(shape), shapeText(expected)));
  }
  if (static_cast<int64_t>(labels.size()) != shape[0])
    return badInput(fmt::format("'{}' has {} samples, but there are {} labels", file.name, shape[0],
                                labels.size()));
  for (size_t i = 0; input.classes > 0 && i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= input.classes)
      return badInput(fmt::format("'{}': sample {} has label {}, the model has classes 0 to {}",
                                  file.name, i, labels[i], input.classes - 1));
  return std::unique_ptr<Dataset>(
      std::make_unique<FloatSamples>(std::move(file), std::move(labels), input));
}

} // namespace gc::runtime
