// dw[c][tap] = sum over pixels of src[pixel under tap][c] * dst[pixel][c]
//
// A thread takes 16 channels, which lie side by side in memory. It goes over the rows of the image,
// and in each over the taps: the rows that they see stay in the first-level cache. Where there are
// fewer such blocks than threads, a thread takes one row of taps. No two threads add to one sum,
// and the order of additions is the same either way.
#include "runtime/hal/cpu/library/DepthwiseFilterGradient.h"
#include "runtime/hal/cpu/library/Loops.h"
#include "runtime/hal/cpu/library/Primitive.h"

#include <algorithm>
#include <omp.h>

namespace gc::runtime::cpu {
namespace {

constexpr int64_t kLanes = 16;
using Lanes [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(sizeof(float))]] = float;

const Lanes *lanesAt(const float *first) { return reinterpret_cast<const Lanes *>(first); }

/// A row of the output under a row of taps.
struct Row {
  const float *src, *dst; // the first pixels of both rows, at the first channel
  int64_t channels;       // from a pixel to the next
  int64_t in, out;        // pixels of the rows
  int64_t taps, stride, dilation, padding;

  /// The output pixels [first, end) whose tap is inside the image.
  int64_t first(int64_t tap) const {
    int64_t before = padding - tap * dilation;
    return before <= 0 ? 0 : (before + stride - 1) / stride;
  }
  int64_t end(int64_t tap) const {
    int64_t last = in - 1 + padding - tap * dilation;
    return last < 0 ? 0 : std::min(out, last / stride + 1);
  }
  const float *srcAt(int64_t pixel, int64_t tap) const {
    return src + (pixel * stride + tap * dilation - padding) * channels;
  }
};

/// Adds a row's products to sums[tap][lane], of all lanes. The sums, in the workspace, begin at a
/// multiple of their vectors; images may begin at any channel.
[[gnu::target_clones("avx512f", "avx2", "default")]] void addRow(const Row &row, float *sums) {
  const int64_t srcStep = row.stride * row.channels, dstStep = row.channels;
  for (int64_t tap = 0; tap < row.taps; ++tap) {
    int64_t pixel = row.first(tap), end = row.end(tap);
    const float *src = row.srcAt(pixel, tap), *dst = row.dst + pixel * dstStep;
    Lanes &total = *reinterpret_cast<Lanes *>(sums + tap * kLanes);
    Lanes sum[4] = {}; // four chains of additions, so that none waits for the one before
    for (; pixel + 4 <= end; pixel += 4, src += 4 * srcStep, dst += 4 * dstStep) {
      sum[0] += *lanesAt(src) * *lanesAt(dst);
      sum[1] += *lanesAt(src + srcStep) * *lanesAt(dst + dstStep);
      sum[2] += *lanesAt(src + 2 * srcStep) * *lanesAt(dst + 2 * dstStep);
      sum[3] += *lanesAt(src + 3 * srcStep) * *lanesAt(dst + 3 * dstStep);
    }
    for (; pixel < end; ++pixel, src += srcStep, dst += dstStep)
      sum[0] += *lanesAt(src) * *lanesAt(dst);
    total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

/// The same where there are fewer lanes.
void addRowOf(int64_t lanes, const Row &row, float *sums) {
  for (int64_t tap = 0; tap < row.taps; ++tap)
    for (int64_t pixel = row.first(tap); pixel < row.end(tap); ++pixel)
      for (int64_t lane = 0; lane < lanes; ++lane)
        sums[tap * kLanes + lane] +=
            row.srcAt(pixel, tap)[lane] * row.dst[pixel * row.channels + lane];
}

class DepthwiseFilterGradient final : public ConvolutionCall {
public:
  explicit DepthwiseFilterGradient(const ConvolutionSpec &spec)
      : s_(spec), threads_(omp_get_max_threads()), blocks_((s_.in_c + kLanes - 1) / kLanes) {
    sumsOffset_ = layout_.take(floats(blocks_ * s_.kernel_h * s_.kernel_w * kLanes));
    if (s_.bias)
      biasOffset_ = layout_.take(floats(threads_ * s_.out_c));
  }

  Status execute(const ConvolutionPointers &p) override {
    auto *sums = reinterpret_cast<float *>(at(p.workspace, sumsOffset_));
    auto *weights = static_cast<float *>(p.weights);
    const int64_t rows = blocks_ >= threads_ ? s_.kernel_h : 1, parts = s_.kernel_h / rows;
#pragma omp parallel for schedule(static)
    for (int64_t item = 0; item < blocks_ * parts; ++item)
      sumTaps(p, item / parts, item % parts * rows, rows,
              sums + item * rows * s_.kernel_w * kLanes);
    const int64_t taps = s_.kernel_h * s_.kernel_w;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < s_.in_c; ++c)
      for (int64_t tap = 0; tap < taps; ++tap) {
        float sum = sums[(c / kLanes * taps + tap) * kLanes + c % kLanes];
        float &weight = weights[c * taps + tap];
        weight = s_.accumulate ? weight + sum : sum;
      }
    if (s_.bias)
      columnSums(static_cast<float *>(p.bias), static_cast<const float *>(p.dst),
                 s_.batch * s_.out_h * s_.out_w, s_.out_c,
                 reinterpret_cast<float *>(at(p.workspace, biasOffset_)), threads_, s_.accumulate);
    return {};
  }

  size_t workspaceBytes() const override { return layout_.size(); }
  std::string implementation() const override { return "depthwise rows"; }

private:
  static size_t floats(int64_t count) { return static_cast<size_t>(count) * sizeof(float); }

  /// The sums of `rows` rows of taps from `first` on, of one block of channels.
  void sumTaps(const ConvolutionPointers &p, int64_t block, int64_t first, int64_t rows,
               float *sums) const {
    const int64_t rowOfSums = s_.kernel_w * kLanes;
    std::fill_n(sums, rows * rowOfSums, 0.0f);
    const int64_t channel = block * kLanes, lanes = std::min(kLanes, s_.in_c - channel);
    Row row{nullptr,     nullptr,     s_.in_c,       s_.in_w, s_.out_w,
            s_.kernel_w, s_.stride_w, s_.dilation_w, s_.pad_w};
    for (int64_t n = 0; n < s_.batch; ++n)
      for (int64_t y = 0; y < s_.out_h; ++y) {
        row.dst =
            static_cast<const float *>(p.dst) + (n * s_.out_h + y) * s_.out_w * s_.out_c + channel;
        for (int64_t tap = 0; tap < rows; ++tap) {
          int64_t inY = y * s_.stride_h + (first + tap) * s_.dilation_h - s_.pad_h;
          if (inY < 0 || inY >= s_.in_h)
            continue;
          row.src =
              static_cast<const float *>(p.src) + (n * s_.in_h + inY) * s_.in_w * s_.in_c + channel;
          if (lanes == kLanes)
            addRow(row, sums + tap * rowOfSums);
          else
            addRowOf(lanes, row, sums + tap * rowOfSums);
        }
      }
  }

  ConvolutionSpec s_;
  int threads_;
  int64_t blocks_; // of channels
  WorkspaceLayout layout_;
  size_t sumsOffset_ = 0, biasOffset_ = 0;
};

} // namespace

bool isDepthwiseFilterGradient(const ConvolutionSpec &s) {
  bool isLarge = s.kernel_h > 3 || s.kernel_w > 3 || s.dilation_h > 1 || s.dilation_w > 1;
  return s.direction == plan::Direction_BackwardWeights && s.groups > 1 && s.groups == s.in_c &&
         s.groups == s.out_c && isLarge;
}

std::unique_ptr<ConvolutionCall> buildDepthwiseFilterGradient(const ConvolutionSpec &spec) {
  return std::make_unique<DepthwiseFilterGradient>(spec);
}

} // namespace gc::runtime::cpu
