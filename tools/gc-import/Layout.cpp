#include "tools/gc-import/Layout.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace gc::importer {

std::vector<int> naturalOrder(size_t count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int64_t product(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  return count;
}

Layout Layout::plain(const Shape &shape) { return ordered(shape, naturalOrder(shape.size())); }

Layout Layout::ordered(const Shape &shape, const std::vector<int> &order) {
  Layout result;
  result.dims.resize(shape.size());
  for (int dim : order)
    if (shape[dim] != 1) {
      result.dims[dim].push_back(static_cast<int>(result.sizes.size()));
      result.sizes.push_back(shape[dim]);
    }
  return result;
}

int64_t Layout::size(size_t dim) const {
  int64_t count = 1;
  for (int axis : dims[dim])
    count *= sizes[axis];
  return count;
}

Shape Layout::shape() const {
  Shape result;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    result.push_back(size(dim));
  return result;
}

std::vector<int> Layout::axes(const std::vector<int> &dimensions) const {
  std::vector<int> result;
  for (int dim : dimensions)
    result.insert(result.end(), dims[dim].begin(), dims[dim].end());
  return result;
}

bool Layout::isPlain() const {
  std::vector<int> order = axes(naturalOrder(dims.size()));
  return std::is_sorted(order.begin(), order.end());
}

Layout Layout::permuted(const std::vector<int> &dimensions) const {
  Layout result{sizes, {}};
  for (int dim : dimensions)
    result.dims.push_back(dims[dim]);
  return result;
}

void Layout::split(int axis, int64_t major) {
  assert(sizes[axis] % major == 0 && major > 1 && major < sizes[axis]);
  for (std::vector<int> &dim : dims)
    for (size_t i = 0; i < dim.size(); ++i) {
      if (dim[i] > axis)
        ++dim[i];
      else if (dim[i] == axis)
        dim.insert(dim.begin() + static_cast<std::ptrdiff_t>(++i), axis + 1);
    }
  sizes.insert(sizes.begin() + axis + 1, sizes[axis] / major);
  sizes[axis] = major;
}

std::optional<Layout> Layout::reshaped(const Shape &shape) const {
  // The elements in order are a number whose digits are all axes, dimension by dimension.
  Layout rest{sizes, {axes(naturalOrder(dims.size()))}};
  Layout result;
  std::vector<std::vector<int>> done;
  size_t next = 0;
  for (int64_t size : shape) {
    done.emplace_back();
    int64_t have = 1;
    while (have < size) {
      if (next == rest.dims.front().size())
        return std::nullopt;
      int axis = rest.dims.front()[next];
      int64_t needed = size / have, there = rest.sizes[axis];
      if (size % have != 0)
        return std::nullopt;
      if (there > needed) {
        if (there % needed != 0)
          return std::nullopt;
        rest.split(axis, needed);
        for (std::vector<int> &dim : done)
          for (int &each : dim)
            each += each > axis;
      } else if (needed % there != 0) {
        return std::nullopt;
      }
      axis = rest.dims.front()[next++];
      done.back().push_back(axis);
      have *= rest.sizes[axis];
    }
  }
  if (next != rest.dims.front().size())
    return std::nullopt;
  return Layout{rest.sizes, std::move(done)};
}

Layout Layout::reordered(const std::vector<int> &order) const {
  std::vector<int> place(sizes.size());
  Layout result;
  for (int axis : order) {
    place[axis] = static_cast<int>(result.sizes.size());
    result.sizes.push_back(sizes[axis]);
  }
  for (const std::vector<int> &dim : dims) {
    result.dims.emplace_back();
    for (int axis : dim)
      result.dims.back().push_back(place[axis]);
  }
  return result;
}

Layout Layout::resized(int axis, int64_t size) const {
  Layout result = *this;
  result.sizes[axis] = size;
  if (size != 1)
    return result;
  result.sizes.erase(result.sizes.begin() + axis);
  for (std::vector<int> &dim : result.dims) {
    dim.erase(std::remove(dim.begin(), dim.end(), axis), dim.end());
    for (int &each : dim)
      each -= each > axis;
  }
  return result;
}

/// Splits so that the axes of one dimension end where those of `other` do. False where they cross.
static bool refineDim(Layout &layout, size_t dim, const Shape &other) {
  size_t at = 0;
  for (size_t i = 0; i < other.size();) {
    if (at == layout.dims[dim].size())
      return false;
    int axis = layout.dims[dim][at];
    int64_t mine = layout.sizes[axis], theirs = other[i];
    // Mine may be made of several of theirs, or be a part of one.
    if (mine > theirs) {
      if (mine % theirs != 0)
        return false;
      layout.split(axis, theirs);
      ++at, ++i;
      continue;
    }
    int64_t have = 1;
    while (have < theirs) {
      if (at == layout.dims[dim].size())
        return false;
      axis = layout.dims[dim][at];
      int64_t needed = theirs / have;
      if (theirs % have != 0)
        return false;
      if (layout.sizes[axis] > needed) {
        if (layout.sizes[axis] % needed != 0)
          return false;
        layout.split(axis, needed);
      } else if (needed % layout.sizes[axis] != 0) {
        return false;
      }
      have *= layout.sizes[layout.dims[dim][at++]];
    }
    ++i;
  }
  return at == layout.dims[dim].size();
}

static Shape axisSizes(const Layout &layout, size_t dim) {
  Shape result;
  for (int axis : layout.dims[dim])
    result.push_back(layout.sizes[axis]);
  return result;
}

bool refineTogether(Layout &a, Layout &b) {
  Layout oldA = a, oldB = b;
  for (size_t dim = 0; dim < a.dims.size(); ++dim) {
    if (a.size(dim) != b.size(dim))
      continue;
    bool fine = refineDim(a, dim, axisSizes(b, dim)) && refineDim(b, dim, axisSizes(a, dim)) &&
                axisSizes(a, dim) == axisSizes(b, dim);
    if (!fine) {
      a = std::move(oldA);
      b = std::move(oldB);
      return false;
    }
  }
  return true;
}

} // namespace gc::importer
