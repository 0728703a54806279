// Random changes to images of the training split. What is drawn is a function of seed, epoch,
// sample and op alone (mixing: of seed and micro-batch): the same bits with any number of workers,
// and after a resume.
#ifndef GC_RUNTIME_DATA_AUGMENTATION_H
#define GC_RUNTIME_DATA_AUGMENTATION_H

#include "runtime/Error.h"
#include "runtime/data/Mixing.h"
#include "runtime/data/Normalization.h"
#include "runtime/data/RandAugment.h"
#include "runtime/data/Resize.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gc::runtime {

/// What `--augment` asks for. Applied in this order, whatever the flag's.
struct Augmentation {
  std::optional<float> crop; // random-resized-crop: the least share of the area
  int64_t shift = 0;         // shift-crop: pixels of the model's input
  float flip = 0;            // its probability
  float rotate = 0;          // degrees to either side
  float brightness = 0, contrast = 0, saturation = 0; // colour-jitter: factors of 1 - x to 1 + x
  std::optional<RandAugment> random;                  // rand-augment, on values rounded to bytes
  float erase = 0;                                    // its probability; after normalization
  Mixing mixing;                                      // of finished samples, by the loader

  bool any() const { return !text().empty(); }
  /// Whether any of them but mixing is there: those that know images of bytes.
  bool changesSamples() const;
  /// As parseAugmentation() takes it, with every value; empty where there is nothing.
  std::string text() const;
};

/// `NAME[:VALUE…]`, separated by commas. Fails (bad input) on what is unknown, and names the
/// nearest.
Result<Augmentation> parseAugmentation(const std::string &text);

/// The part of an image that is used, in its own pixels.
struct CropBox {
  ResizeSpan rows, columns;
};

/// Augments one sample: H x W x C values.
class Augmenter {
public:
  Augmenter(const Augmentation &ops, uint64_t seed, int64_t height, int64_t width, int64_t channels)
      : ops(ops), seed(seed), height(height), width(width), channels(channels) {}

  /// The part to use of a source of this size.
  CropBox box(int64_t index, uint64_t epoch, int64_t sourceHeight, int64_t sourceWidth) const;
  /// All that follows the resize; `sample` comes in [0, 1] and is normalized then. `copy` has room
  /// for a sample.
  void apply(int64_t index, uint64_t epoch, const Normalization &normalization, float *sample,
             float *copy) const;

private:
  void shiftBy(int64_t down, int64_t right, float *sample, float *copy) const;
  void mirror(float *sample) const;
  void turn(float degrees, float *sample, float *copy) const;
  void jitter(float brightness, float contrast, float saturation, float *sample) const;
  void randomOps(const Draws &draws, float *sample, float *copy) const;

  const Augmentation ops;
  const uint64_t seed;
  const int64_t height, width, channels;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_AUGMENTATION_H
