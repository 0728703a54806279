#include "runtime/weights/Layout.h"

#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gc::runtime {

Result<FileLayout> FileLayout::create(const std::string &name, int64_t elements,
                                      std::vector<int64_t> split,
                                      const std::vector<int> &permutation) {
  auto bad = [&](const char *what) {
    return badInput(fmt::format("the plan's file layout of '{}' (split {}, permutation [{}], {} "
                                "elements) {}; compile it again",
                                name, shapeText(split), fmt::join(permutation, ", "), elements,
                                what));
  };
  FileLayout layout;
  if (split.empty() && permutation.empty()) {
    layout.split = {elements};
    layout.insideStride = {1};
    if (elements < 1)
      return bad("is empty");
    return layout;
  }
  if (split.size() != permutation.size())
    return bad("has as many axes in one as not in the other");
  int64_t product = 1;
  for (int64_t dimension : split)
    if (dimension < 1 || __builtin_mul_overflow(product, dimension, &product))
      return bad("has an impossible dimension");
  if (product != elements)
    return bad("has another number of elements than its buffer");
  layout.insideStride.assign(split.size(), 0);
  uint64_t stride = 1;
  for (size_t inside = permutation.size(); inside-- > 0;) {
    int axis = permutation[inside];
    if (axis < 0 || static_cast<size_t>(axis) >= split.size() || layout.insideStride[axis] != 0)
      return bad("has a permutation that is none");
    layout.insideStride[axis] = stride;
    stride *= static_cast<uint64_t>(split[axis]);
  }
  layout.split = std::move(split);
  return layout;
}

} // namespace gc::runtime
