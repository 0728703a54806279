// Mixup (Zhang et al., 2018) and cutmix (Yun et al., 2019): pairs of samples of a micro-batch
// become mixtures of both, each with two labels and the share of the first one. Sample i goes with
// sample N - 1 - i and all pairs share what is drawn, as timm does in its batch mode; that is a
// function of seed and micro-batch alone.
#ifndef GC_RUNTIME_DATA_MIXING_H
#define GC_RUNTIME_DATA_MIXING_H

#include <cstdint>
#include <optional>
#include <vector>

namespace gc::runtime {

/// What --augment asks for. With both, each has one half of the micro-batches.
struct Mixing {
  std::optional<float> mixup, cutmix; // ALPHA: the share is drawn from Beta(ALPHA, ALPHA)

  bool any() const { return mixup || cutmix; }
};

/// Of one micro-batch.
struct MixDraw {
  float share = 1; // of a sample and its label; the rest is its partner's
  bool cuts = false;
  int64_t top = 0, left = 0, height = 0, width = 0; // where it is cut: what the partners swap
};

class Mixer {
public:
  /// Of samples of this shape; cutmix needs H x W x C.
  Mixer(const Mixing &wish, std::vector<int64_t> sampleShape, uint64_t seed);

  MixDraw draw(uint64_t microBatch) const;
  /// Mixes two samples.
  void mix(const MixDraw &draw, float *one, float *other) const;

private:
  const Mixing wish;
  const std::vector<int64_t> shape;
  const uint64_t seed;
  int64_t elements = 1;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_MIXING_H
