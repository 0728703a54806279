// Bilinear resize of bytes to normalized f32, rows at a time: half-pixel centres, no antialiasing;
// what torch.nn.functional.interpolate(mode="bilinear", align_corners=False) computes.
#ifndef GC_RUNTIME_DATA_RESIZE_H
#define GC_RUNTIME_DATA_RESIZE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gc::runtime {

class Resize {
public:
  /// Channels are equal, or one becomes several (replicated). Tables are computed here, once.
  Resize(int64_t inHeight, int64_t inWidth, int64_t inChannels, int64_t outHeight, int64_t outWidth,
         int64_t outChannels);

  /// f32 values of scratch that run() needs: two source rows at the output's width.
  size_t scratchElements() const { return 2 * rowElements; }

  /// Output rows [begin, end) of one image (H, W, C); `target` is the output's row 0. Bytes become
  /// (v / 255 - 0.5) / 0.5.
  void run(const uint8_t *image, int64_t begin, int64_t end, float *target, float *scratch) const;

private:
  struct Tap { // value = (1 - weight) * at[first] + weight * at[second]
    int32_t first, second;
    float weight;
  };
  static std::vector<Tap> taps(int64_t in, int64_t out);
  void stretchRow(const uint8_t *row, float *target) const;

  int64_t inWidth, inChannels, outWidth, outChannels;
  size_t rowElements;
  bool sameWidth;
  std::vector<Tap> rowTaps, columnTaps;
  float normalized[256];
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_RESIZE_H
