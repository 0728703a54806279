// RandAugment (Cubuk et al., 2020): some of fourteen ops, drawn at random and applied one after the
// other, all with one magnitude. Formulas and magnitudes are those of torchvision's RandAugment on
// tensors of bytes with 31 bins, nearest pixels and black from outside.
#ifndef GC_RUNTIME_DATA_RANDAUGMENT_H
#define GC_RUNTIME_DATA_RANDAUGMENT_H

#include "runtime/data/Draws.h"

#include <cstdint>
#include <span>

namespace gc::runtime {

/// What `rand-augment` asks for.
struct RandAugment {
  static constexpr int64_t kMostOps = 100, kMostMagnitude = 30;
  int64_t ops = 2, magnitude = 9;
};

/// An image of H x W x C bytes that ops change in place; C is 1 or 3.
struct BytePixels {
  int64_t height = 0, width = 0, channels = 0;
  uint8_t *pixels = nullptr;
  uint8_t *spare = nullptr; // room for as many, in unknown state

  int64_t size() const { return height * width * channels; }
};

/// One of the ops.
struct RandomOp {
  const char *name;
  bool isSigned; // the magnitude is negative half of the time
  /// The op's own measure of a magnitude from 0 to 30.
  float (*strength)(int64_t magnitude, const BytePixels &image);
  void (*apply)(float strength, BytePixels &image);
};
std::span<const RandomOp> randomOps();

/// Draws ops for a sample and applies them.
void applyRandAugment(const RandAugment &wish, const Draws &draws, BytePixels &image);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_RANDAUGMENT_H
