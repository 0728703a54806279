// How a PyTorch tensor lies in memory here: its dimensions as products of axes.
//
// A value of the IR has axes in the order of memory. A dimension of the tensor is a list of them,
// the major one first. Permuting then moves nothing, reshaping splits and joins, and only an op
// that insists on an order costs a transpose. A convolution's output [2, 64, 7, 7] lies as NHWC:
//
//   sizes = 2, 7, 7, 64      dims = {0}, {3}, {1}, {2}
//
// and flattened to [2, 3136] it is the same bytes, with dims = {0}, {3, 1, 2}: whatever multiplies
// it with a weight permutes the weight's columns in the weight file's layout instead. Axes of one
// element do not exist.
#ifndef GC_TOOLS_GC_IMPORT_LAYOUT_H
#define GC_TOOLS_GC_IMPORT_LAYOUT_H

#include <cstdint>
#include <optional>
#include <vector>

namespace gc::importer {

using Shape = std::vector<int64_t>;

struct Layout {
  Shape sizes;                        // of the axes, in the order of memory; none is 1
  std::vector<std::vector<int>> dims; // axes of each dimension

  /// In the order of its dimensions.
  static Layout plain(const Shape &shape);
  /// Dimension `order[i]` is axis i of memory.
  static Layout ordered(const Shape &shape, const std::vector<int> &order);

  int64_t size(size_t dim) const;
  Shape shape() const;
  /// All axes, dimension by dimension in this order.
  std::vector<int> axes(const std::vector<int> &dimensions) const;
  bool isPlain() const;

  Layout permuted(const std::vector<int> &dimensions) const;
  /// Null where elements that a dimension needs side by side are not: another order of memory
  /// first.
  std::optional<Layout> reshaped(const Shape &shape) const;
  /// With the axes of memory in this order.
  Layout reordered(const std::vector<int> &order) const;
  /// Splits an axis into two; the major one has `major` elements, which divide it.
  void split(int axis, int64_t major);
  /// Without the axes that have become 1.
  Layout resized(int axis, int64_t size) const;
};

std::vector<int> naturalOrder(size_t count);
/// -1 where it is beyond 64 bits, or a size is negative.
int64_t product(const Shape &shape);

/// Splits axes of both until dimensions of the same size have the same ones. False where no split
/// does that; then they are as they were.
bool refineTogether(Layout &a, Layout &b);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_LAYOUT_H
