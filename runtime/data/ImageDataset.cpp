#include "runtime/data/ImageDataset.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/Resize.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

namespace gc::runtime {

namespace {

class ImageDataset final : public Dataset {
public:
  ImageDataset(ByteImages source, const ModelInput &input)
      : images(std::move(source)), imageBytes(images.height * images.width * images.channels),
        height(input.sampleShape[0]), resize(images.height, images.width, images.channels, height,
                                             input.sampleShape[1], input.sampleShape[2]) {}

  int64_t size() const override { return images.count; }
  int64_t label(int64_t index) const override { return images.labels[index]; }
  int64_t rows() const override { return height; }
  size_t scratchElements() const override { return resize.scratchElements(); }
  Status read(int64_t index, int64_t begin, int64_t end, float *sample,
              float *scratch) const override {
    resize.run(images.pixels.data() + index * imageBytes, begin, end, sample, scratch);
    return {};
  }

  Result<uint64_t> fingerprint() const override {
    Fingerprint print;
    print.add(static_cast<uint64_t>(images.height)).add(static_cast<uint64_t>(images.width));
    print.add(images.labels.data(), images.labels.size());
    return print.add(images.pixels.data(), images.pixels.size()).value();
  }

private:
  ByteImages images;
  int64_t imageBytes, height;
  Resize resize;
};

} // namespace

Result<std::unique_ptr<Dataset>> makeImageDataset(ByteImages images, const ModelInput &input) {
  if (input.sampleShape.size() != 3)
    return badInput(fmt::format("'{}' holds images, but a sample of this model has the shape {}; "
                                "give it a batch file (FILE.safetensors) or --data=synthetic",
                                images.name, shapeText(input.sampleShape)));
  int64_t channels = input.sampleShape[2];
  if (images.channels != channels && images.channels != 1)
    return badInput(fmt::format("'{}' has images of {} channels, the model takes {}", images.name,
                                images.channels, channels));
  if (input.classes > 0)
    for (int64_t i = 0; i < images.count; ++i)
      if (images.labels[i] >= input.classes)
        return badInput(fmt::format("'{}': sample {} has label {}, the model has classes 0 to {}",
                                    images.name, i, images.labels[i], input.classes - 1));
  return std::unique_ptr<Dataset>(std::make_unique<ImageDataset>(std::move(images), input));
}

} // namespace gc::runtime
