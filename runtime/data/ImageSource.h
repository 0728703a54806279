// Images with labels, wherever they come from: what ImageDataset delivers at the model's size.
#ifndef GC_RUNTIME_DATA_IMAGESOURCE_H
#define GC_RUNTIME_DATA_IMAGESOURCE_H

#include "runtime/data/images/ImageRows.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gc::runtime {

/// What all images of a source have, where that is known.
struct ImageShape {
  int64_t height = 0, width = 0, channels = 0;
};

/// Immutable; all methods may be called from several threads.
class ImageSource {
public:
  virtual ~ImageSource() = default;

  virtual int64_t size() const = 0;
  virtual int64_t label(int64_t index) const = 0;
  /// The file or folder, for messages.
  virtual const std::string &name() const = 0;
  /// A sample, for messages: "sample 7" or a file.
  virtual std::string sampleName(int64_t index) const;

  virtual std::optional<ImageShape> shape() const { return std::nullopt; }
  /// Whether any rows of an image can be had without those above them, at no cost.
  virtual bool inMemory() const { return false; }
  /// Whether an image may turn out to be broken when it is read.
  virtual bool mayBeBroken() const { return false; }

  /// Bytes of scratch that visit() needs.
  virtual size_t scratchBytes() const { return 0; }
  /// Shows an image. What is wrong with it is told (bad input) with its name.
  virtual Status visit(int64_t index, uint8_t *scratch, ImageVisitor &visitor) const = 0;

  /// See Dataset::fingerprint().
  virtual Result<uint64_t> fingerprint() const = 0;
};

/// An image that lies in memory: rows of `width * channels` bytes.
class MemoryRows final : public ImageRows {
public:
  MemoryRows(const uint8_t *pixels, const ImageShape &shape) : pixels(pixels) {
    height = shape.height;
    width = shape.width;
    channels = shape.channels;
  }
  Result<const uint8_t *> row(int64_t number) override {
    return pixels + number * width * channels;
  }

private:
  const uint8_t *pixels;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGESOURCE_H
