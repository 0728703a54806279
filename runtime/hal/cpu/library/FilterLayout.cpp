#include "runtime/hal/cpu/library/FilterLayout.h"

#include <algorithm>
#include <cstring>

namespace gc::runtime::cpu {

constexpr int64_t kTile = 16;

/// places[i] for index i of dimension `dim`.
static std::vector<int64_t> tabulate(const dnnl_memory_desc_t &desc, int dim) {
  const dnnl_blocking_desc_t &blocking = desc.format_desc.blocking;
  std::vector<int64_t> places(static_cast<size_t>(desc.padded_dims[dim]));
  for (size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t place = 0, stride = 1;
    // Inner blocks are listed outermost first; the last one is contiguous.
    for (int b = blocking.inner_nblks; b-- > 0;) {
      int64_t size = blocking.inner_blks[b];
      if (blocking.inner_idxs[b] == dim) {
        place += rest % size * stride;
        rest /= size;
      }
      stride *= size;
    }
    places[i] = place + rest * blocking.strides[dim];
  }
  return places;
}

FilterLayout::FilterLayout(const dnnl::memory::desc &desc) : bytes_(desc.get_size()) {
  int dim = 0;
  if (desc.data.ndims == 5) {
    groups_ = desc.data.dims[0];
    group_ = tabulate(desc.data, dim++);
  }
  outC_ = desc.data.dims[dim], out_ = tabulate(desc.data, dim++);
  inC_ = desc.data.dims[dim], in_ = tabulate(desc.data, dim++);
  kernelH_ = desc.data.dims[dim], height_ = tabulate(desc.data, dim++);
  kernelW_ = desc.data.dims[dim], width_ = tabulate(desc.data, dim++);
}

// Filters of groups are small: no tiles.
template <typename Body> void FilterLayout::forGroups(Body body) const {
#pragma omp parallel for schedule(static)
  for (int64_t g = 0; g < groups_; ++g)
    for (int64_t o = 0; o < outC_; ++o)
      for (int64_t tap = 0; tap < kernelH_ * kernelW_; ++tap) {
        int64_t place = group_[static_cast<size_t>(g)] + out_[static_cast<size_t>(o)] +
                        height_[static_cast<size_t>(tap / kernelW_)] +
                        width_[static_cast<size_t>(tap % kernelW_)];
        int64_t index = ((g * outC_ + o) * kernelH_ * kernelW_ + tap) * inC_;
        for (int64_t i = 0; i < inC_; ++i)
          body(place + in_[static_cast<size_t>(i)], index + i);
      }
}

/// Do n entries from `first` count upwards by one?
static bool consecutive(const int64_t *first, int64_t n) {
  for (int64_t i = 1; i < n; ++i)
    if (first[i] != first[0] + i)
      return false;
  return true;
}

template <typename Element>
void FilterLayout::reorder(Element *blocked, const Element *ohwi) const {
  if (groups_ > 1) {
    std::memset(blocked, 0, bytes_); // what only pads
    return forGroups([=](int64_t place, int64_t index) { blocked[place] = ohwi[index]; });
  }
  const auto outs = static_cast<int64_t>(out_.size()), ins = static_cast<int64_t>(in_.size());
  const int64_t outTiles = (outs + kTile - 1) / kTile, row = kernelH_ * kernelW_ * inC_;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t tile = 0; tile < outTiles; ++tile)
    for (int64_t tap = 0; tap < kernelH_ * kernelW_; ++tap) {
      const int64_t o0 = tile * kTile, oN = std::min(kTile, outs - o0);
      Element *base = blocked + height_[static_cast<size_t>(tap / kernelW_)] +
                      width_[static_cast<size_t>(tap % kernelW_)];
      const int64_t *places = &out_[static_cast<size_t>(o0)];
      const bool straight = oN == kTile && consecutive(places, kTile);
      for (int64_t i0 = 0; i0 < ins; i0 += kTile) {
        const int64_t iN = std::min(kTile, ins - i0);
        alignas(64) Element part[kTile][kTile] = {};
        const int64_t given = std::clamp<int64_t>(inC_ - i0, 0, iN);
        for (int64_t o = 0; o < std::min(oN, outC_ - o0); ++o)
          std::memcpy(part[o], ohwi + (o0 + o) * row + tap * inC_ + i0,
                      static_cast<size_t>(given) * sizeof(Element));
        for (int64_t i = 0; i < iN; ++i) {
          Element *target = base + in_[static_cast<size_t>(i0 + i)];
          if (straight)
            for (int64_t o = 0; o < kTile; ++o)
              target[places[0] + o] = part[o][i];
          else
            for (int64_t o = 0; o < oN; ++o)
              target[places[o]] = part[o][i];
        }
      }
    }
}

template void FilterLayout::reorder(float *, const float *) const;
template void FilterLayout::reorder(uint16_t *, const uint16_t *) const;

void FilterLayout::toOhwi(float *ohwi, const float *blocked, bool add) const {
  if (groups_ > 1)
    return forGroups([=](int64_t place, int64_t index) {
      ohwi[index] = add ? ohwi[index] + blocked[place] : blocked[place];
    });
  const int64_t outTiles = (outC_ + kTile - 1) / kTile, row = kernelH_ * kernelW_ * inC_;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t tile = 0; tile < outTiles; ++tile)
    for (int64_t tap = 0; tap < kernelH_ * kernelW_; ++tap) {
      const int64_t o0 = tile * kTile, oN = std::min(kTile, outC_ - o0);
      const float *base = blocked + height_[static_cast<size_t>(tap / kernelW_)] +
                          width_[static_cast<size_t>(tap % kernelW_)];
      const int64_t *places = &out_[static_cast<size_t>(o0)];
      for (int64_t i0 = 0; i0 < inC_; i0 += kTile) {
        const int64_t iN = std::min(kTile, inC_ - i0);
        alignas(64) float part[kTile][kTile];
        for (int64_t i = 0; i < iN; ++i) {
          const float *source = base + in_[static_cast<size_t>(i0 + i)];
          for (int64_t o = 0; o < oN; ++o)
            part[o][i] = source[places[o]];
        }
        for (int64_t o = 0; o < oN; ++o) {
          float *target = ohwi + (o0 + o) * row + tap * inC_ + i0;
          for (int64_t i = 0; i < iN; ++i)
            target[i] = add ? target[i] + part[o][i] : part[o][i];
        }
      }
    }
}

} // namespace gc::runtime::cpu
