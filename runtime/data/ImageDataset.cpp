#include "runtime/data/ImageDataset.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/Resize.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <cmath>

namespace gc::runtime {

std::string ImageSource::sampleName(int64_t index) const {
  return fmt::format("'{}': sample {}", name(), index);
}

namespace {

class ByteImageSource final : public ImageSource {
public:
  explicit ByteImageSource(ByteImages source)
      : images(std::move(source)), imageBytes(images.height * images.width * images.channels) {}

  int64_t size() const override { return images.count; }
  int64_t label(int64_t index) const override { return images.labels[index]; }
  const std::string &name() const override { return images.name; }
  std::optional<ImageShape> shape() const override {
    return ImageShape{images.height, images.width, images.channels};
  }
  bool inMemory() const override { return true; }
  Status visit(int64_t index, uint8_t *, ImageVisitor &visitor) const override {
    MemoryRows rows(images.pixels.data() + index * imageBytes, *shape());
    return visitor.visit(rows);
  }

  Result<uint64_t> fingerprint() const override {
    Fingerprint print;
    print.add(static_cast<uint64_t>(images.height)).add(static_cast<uint64_t>(images.width));
    print.add(images.labels.data(), images.labels.size());
    return print.add(images.pixels.data(), images.pixels.size()).value();
  }

private:
  ByteImages images;
  int64_t imageBytes;
};

class ImageDataset final : public Dataset {
public:
  ImageDataset(std::unique_ptr<ImageSource> images, const ModelInput &input,
               const ImageTransforms &transforms)
      : source(std::move(images)), transforms(transforms), height(input.sampleShape[0]),
        width(input.sampleShape[1]), channels(input.sampleShape[2]),
        augments(transforms.augmentation.changesSamples()),
        augmenter(transforms.augmentation, transforms.seed, height, width, channels),
        resize(height, width, channels, transforms.normalization),
        plainResize(height, width, channels, Normalization{{0.0f}, {1.0f}}) {
    std::optional<ImageShape> shape = source->shape();
    if (!shape)
      return;
    fixedTaps.resize(static_cast<size_t>(height + width));
    placeAllTaps(fixedTaps, shape->height, shape->width, wholeImage(shape->height, shape->width));
  }

  int64_t size() const override { return source->size(); }
  int64_t label(int64_t index) const override { return source->label(index); }
  bool mayHaveBadSamples() const override { return source->mayBeBroken(); }
  /// A compressed image is decoded once for all of its rows, and most augmentations see all of
  /// them.
  int64_t rows() const override { return source->inMemory() && !augments ? height : 1; }
  size_t scratchElements() const override {
    return sourceScratch() + (source->scratchBytes() + 3) / 4;
  }

  Status read(int64_t index, int64_t begin, int64_t end, float *sample,
              float *scratch) const override {
    Reading reading(*this, sample, scratch);
    if (rows() > 1) {
      reading.begin = begin;
      reading.end = end;
    }
    return visit(index, reading);
  }

  Status readAugmented(int64_t index, uint64_t epoch, int64_t begin, int64_t end, float *sample,
                       float *scratch) const override {
    if (!augments)
      return read(index, begin, end, sample, scratch);
    Reading reading(*this, sample, scratch);
    reading.index = index;
    reading.epoch = epoch;
    if (Status done = visit(index, reading); !done)
      return done;
    augmenter.apply(index, epoch, transforms.normalization, sample, scratch + copyBegin());
    return {};
  }

  Result<uint64_t> fingerprint() const override {
    Result<uint64_t> content = source->fingerprint();
    if (!content || (transforms.normalization == Normalization() && !transforms.augmentation.any()))
      return content;
    Fingerprint print;
    std::string text = transforms.normalization.text() + transforms.augmentation.text();
    return print.add(*content).add(text.data(), text.size()).value();
  }

private:
  struct Reading final : ImageVisitor {
    Reading(const ImageDataset &data, float *sample, float *scratch)
        : data(data), end(data.height), sample(sample), scratch(scratch) {}
    Status visit(ImageRows &image) override { return data.resizeImage(image, *this); }
    const ImageDataset &data;
    int64_t begin = 0, end; // output rows
    float *sample, *scratch;
    int64_t index = 0;
    std::optional<uint64_t> epoch; // augmented as in that one
  };
  Status visit(int64_t index, Reading &reading) const {
    uint8_t *rest = reinterpret_cast<uint8_t *>(reading.scratch + sourceScratch());
    return source->visit(index, rest, reading);
  }

  // Scratch: rows of the resize, taps, a copy of the sample for augmentations, the source's own.
  size_t copyBegin() const { return resize.scratchElements() + tapElements(); }
  size_t sourceScratch() const {
    return copyBegin() + (augments ? static_cast<size_t>(height * width * channels) : 0);
  }

  size_t tapElements() const {
    return static_cast<size_t>(height + width) * sizeof(ResizeTap) / sizeof(float);
  }
  static CropBox wholeImage(int64_t inHeight, int64_t inWidth) {
    return {{0, static_cast<float>(inHeight)}, {0, static_cast<float>(inWidth)}};
  }
  void placeAllTaps(std::span<ResizeTap> taps, int64_t inHeight, int64_t inWidth,
                    const CropBox &box) const {
    size_t rowCount = static_cast<size_t>(height);
    placeTaps(taps.first(rowCount), inHeight, box.rows);
    placeTaps(taps.subspan(rowCount), inWidth, box.columns);
  }
  /// The taps of this image, in the reading's scratch.
  std::span<const ResizeTap> taps(ImageRows &image, const Reading &reading) const {
    const float fullHeight = static_cast<float>(image.height);
    const float fullWidth = static_cast<float>(image.width);
    CropBox box = wholeImage(image.height, image.width);
    if (reading.epoch)
      box = augmenter.box(reading.index, *reading.epoch, image.height, image.width);
    // The part in use is to be no smaller than what it becomes.
    auto least = [](int64_t out, float full, float part) {
      return static_cast<int64_t>(std::ceil(static_cast<float>(out) * full / part));
    };
    image.shrinkTo(least(height, fullHeight, box.rows.length),
                   least(width, fullWidth, box.columns.length));
    auto scale = [](ResizeSpan &span, float by) { span = {span.begin * by, span.length * by}; };
    scale(box.rows, static_cast<float>(image.height) / fullHeight);
    scale(box.columns, static_cast<float>(image.width) / fullWidth);
    size_t count = static_cast<size_t>(height + width);
    ResizeTap *place = reinterpret_cast<ResizeTap *>(reading.scratch + resize.scratchElements());
    std::span<ResizeTap> placed(new (place) ResizeTap[count], count);
    placeAllTaps(placed, image.height, image.width, box);
    return placed;
  }

  Status resizeImage(ImageRows &image, const Reading &reading) const {
    std::span<const ResizeTap> all =
        fixedTaps.empty() || reading.epoch ? taps(image, reading) : fixedTaps;
    size_t rowCount = static_cast<size_t>(height);
    // What is augmented is normalized after.
    const Resize &chosen = reading.epoch ? plainResize : resize;
    return chosen.run(image, all.first(rowCount), all.subspan(rowCount), reading.begin, reading.end,
                      reading.sample, reading.scratch);
  }

  std::unique_ptr<ImageSource> source;
  ImageTransforms transforms;
  int64_t height, width, channels;
  bool augments;
  Augmenter augmenter;
  Resize resize, plainResize;       // to normalized values, to [0, 1]
  std::vector<ResizeTap> fixedTaps; // where all images have one shape
};

} // namespace

std::unique_ptr<ImageSource> makeImageSource(ByteImages images) {
  return std::make_unique<ByteImageSource>(std::move(images));
}

Result<std::unique_ptr<Dataset>> makeImageDataset(ByteImages images, const ModelInput &input,
                                                  const ImageTransforms &transforms) {
  return makeImageDataset(makeImageSource(std::move(images)), input, transforms);
}

Result<std::unique_ptr<Dataset>> makeImageDataset(std::unique_ptr<ImageSource> images,
                                                  const ModelInput &input,
                                                  const ImageTransforms &transforms) {
  if (input.sampleShape.size() != 3)
    return badInput(fmt::format("'{}' holds images, but a sample of this model has the shape {}; "
                                "give it a batch file (FILE.safetensors) or --data=synthetic",
                                images->name(), shapeText(input.sampleShape)));
  int64_t channels = input.sampleShape[2];
  // Compressed images are grey or colour, as each of them says.
  int64_t given = images->shape() ? images->shape()->channels : 3;
  if (!Resize::canConvert(given, channels))
    return badInput(fmt::format("'{}' has images of {} channels, the model takes {}",
                                images->name(), given, channels));
  if (Status fine = transforms.normalization.checkChannels(channels); !fine)
    return fine.error();
  if (input.classes > 0)
    for (int64_t i = 0; i < images->size(); ++i)
      if (int64_t label = images->label(i); label < 0 || label >= input.classes)
        return badInput(fmt::format("{} has label {}, the model has classes 0 to {}",
                                    images->sampleName(i), label, input.classes - 1));
  return std::unique_ptr<Dataset>(
      std::make_unique<ImageDataset>(std::move(images), input, transforms));
}

std::string preparationText(const ImageSource &images, const ModelInput &input,
                            const ImageTransforms &transforms) {
  int64_t height = input.sampleShape[0], width = input.sampleShape[1];
  int64_t channels = input.sampleShape[2];
  std::string text;
  std::optional<ImageShape> shape = images.shape();
  if (!shape)
    text = fmt::format("decoded, stretched to {} x {}, in {}", height, width,
                       channels == 1 ? "grey" : "colour");
  else if (shape->height == height && shape->width == width)
    text = fmt::format("{} x {} as they are", height, width);
  else
    text = fmt::format("{} x {} stretched to {} x {}", shape->height, shape->width, height, width);
  if (shape && shape->channels != channels)
    text += channels == 1 ? ", colour to grey" : fmt::format(", grey to {} channels", channels);
  text += ", normalized by " + transforms.normalization.text();
  if (transforms.augmentation.any())
    text += "; in training augmented by " + transforms.augmentation.text();
  return text;
}

} // namespace gc::runtime
