// Filters between OHWI and the blocked layouts that oneDNN's kernels want. Private to the library.
//
// Why not oneDNN's reorder: with it, forward and weight gradient of 512×3×3×512 took 42 and 62 ms
// of one core; with the 16×16 tiles here, which pass through a small contiguous array, 36 and 45
// ms. (The suspected cause is cache conflicts from walking OHWI with a large power-of-two stride.)
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_FILTERLAYOUT_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_FILTERLAYOUT_H

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

namespace gc::runtime::cpu {

/// A blocked layout of filters [outC, inC, kernelH, kernelW], or with groups before these. In every
/// such layout the place of an element is a sum of one number for each of its indices; those are
/// tabulated here.
class FilterLayout {
public:
  FilterLayout() = default;
  /// `desc` is a blocked descriptor of four or five dimensions.
  explicit FilterLayout(const dnnl::memory::desc &desc);

  size_t bytes() const { return bytes_; }
  /// Writes all of the blocked filter; channels that only pad it become 0.
  void fromOhwi(float *blocked, const float *ohwi) const { reorder(blocked, ohwi); }
  void fromOhwi(uint16_t *blocked, const uint16_t *ohwi) const { reorder(blocked, ohwi); } // bf16
  /// ohwi = blocked, or ohwi += blocked.
  void toOhwi(float *ohwi, const float *blocked, bool add) const;

private:
  template <typename Element> void reorder(Element *blocked, const Element *ohwi) const;
  /// Calls body(place in the blocked layout, index in OHWI) for each element of each group.
  template <typename Body> void forGroups(Body body) const;

  int64_t groups_ = 1, outC_ = 0, inC_ = 0, kernelH_ = 0, kernelW_ = 0; // channels of one group
  // Tables; group_, out_ and in_ over the padded sizes.
  std::vector<int64_t> group_, out_, in_, height_, width_;
  size_t bytes_ = 0;
};

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_FILTERLAYOUT_H
