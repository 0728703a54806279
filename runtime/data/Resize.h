// Bilinear resize of bytes to f32, rows at a time: half-pixel centres, no antialiasing; what
// torch.nn.functional.interpolate(mode="bilinear", align_corners=False) computes.
#ifndef GC_RUNTIME_DATA_RESIZE_H
#define GC_RUNTIME_DATA_RESIZE_H

#include "runtime/data/Normalization.h"
#include "runtime/data/images/ImageRows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gc::runtime {

/// value = (1 - weight) * at[first] + weight * at[second]
struct ResizeTap {
  int32_t first, second;
  float weight;
};

/// Part of a source's rows or columns.
struct ResizeSpan {
  float begin = 0, length = 0;
};

/// One tap for each output row or column. Reads nothing outside of the span, which lies within the
/// source.
void placeTaps(std::span<ResizeTap> taps, int64_t source, ResizeSpan span);

class Resize {
public:
  Resize(int64_t outHeight, int64_t outWidth, int64_t outChannels,
         const Normalization &normalization);

  /// Whether images of so many channels become the output's: equal, grey replicated, or red, green
  /// and blue weighed (as PIL does) to grey.
  static bool canConvert(int64_t inChannels, int64_t outChannels) {
    return inChannels == outChannels || inChannels == 1 || (inChannels == 3 && outChannels == 1);
  }

  /// f32 values of scratch that run() needs: two source rows at the output's width.
  size_t scratchElements() const { return 2 * rowElements; }

  /// Output rows [begin, end) of one image; `target` is the output's row 0. Reads the image's rows
  /// in ascending order.
  Status run(ImageRows &image, std::span<const ResizeTap> rows, std::span<const ResizeTap> columns,
             int64_t begin, int64_t end, float *target, float *scratch) const;

private:
  void stretchRow(const uint8_t *row, int64_t inWidth, int64_t inChannels,
                  std::span<const ResizeTap> columns, float *target) const;

  int64_t outWidth, outChannels;
  size_t rowElements;
  std::vector<float> values; // of a byte, 256 for each output channel
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_RESIZE_H
