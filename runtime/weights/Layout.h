// From the layout of weight files (PyTorch's: OIHW filters, C-H-W flattening) to the one inside the
// plan and back. The file's tensor is viewed with dimensions `split`; inside axis i is split axis
// permutation[i]. Pieces are converted in file order, so that a tensor of any size needs only a
// small staging buffer.
#ifndef GC_RUNTIME_WEIGHTS_LAYOUT_H
#define GC_RUNTIME_WEIGHTS_LAYOUT_H

#include "runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc::runtime {

class FileLayout {
public:
  /// Empty split and permutation: the same order inside and outside. Fails (bad input) where split
  /// and permutation do not belong to a tensor of `elements` elements.
  static Result<FileLayout> create(const std::string &name, int64_t elements,
                                   std::vector<int64_t> split, const std::vector<int> &permutation);

  /// Elements [first, first + count) in file order, from `file` to their places in `inside`.
  template <class T> void toInside(uint64_t first, uint64_t count, const T *file, T *inside) const {
    forRuns(first, count, [&](uint64_t fileIndex, uint64_t start, uint64_t stride, uint64_t run) {
      for (uint64_t i = 0; i < run; ++i)
        inside[start + i * stride] = file[fileIndex + i];
    });
  }
  /// The other way.
  template <class T> void toFile(uint64_t first, uint64_t count, const T *inside, T *file) const {
    forRuns(first, count, [&](uint64_t fileIndex, uint64_t start, uint64_t stride, uint64_t run) {
      for (uint64_t i = 0; i < run; ++i)
        file[fileIndex + i] = inside[start + i * stride];
    });
  }

private:
  /// Calls body(index in the piece, inside start, inside stride, length) for rows of the last axis.
  template <class Body> void forRuns(uint64_t first, uint64_t count, Body body) const {
    uint64_t row = static_cast<uint64_t>(split.back());
    for (uint64_t done = 0; done < count;) {
      uint64_t rest = (first + done) / row, column = (first + done) % row;
      uint64_t start = column * insideStride.back();
      for (size_t axis = split.size() - 1; axis-- > 0;) {
        start += rest % static_cast<uint64_t>(split[axis]) * insideStride[axis];
        rest /= static_cast<uint64_t>(split[axis]);
      }
      uint64_t run = row - column < count - done ? row - column : count - done;
      body(done, start, insideStride.back(), run);
      done += run;
    }
  }

  std::vector<int64_t> split;
  std::vector<uint64_t> insideStride; // of each split axis
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_LAYOUT_H
