// An image that is delivered from its top row to its bottom row, so that no decoded image lies in
// memory as a whole.
#ifndef GC_RUNTIME_DATA_IMAGES_IMAGEROWS_H
#define GC_RUNTIME_DATA_IMAGES_IMAGEROWS_H

#include "runtime/Error.h"

#include <cstdint>

namespace gc::runtime {

class ImageRows {
public:
  virtual ~ImageRows() = default;

  /// Of what row() delivers; 1 (grey) or 3 (red, green, blue) channels, interleaved.
  int64_t height = 0, width = 0, channels = 0;

  /// That much is enough: an image that can be decoded at a smaller scale does so, which changes
  /// height and width but leaves them at least as large. To be called before the first row.
  virtual void shrinkTo(int64_t leastHeight, int64_t leastWidth) {}

  /// The row of this number, which is not below any that was asked for before. Valid until the next
  /// call.
  virtual Result<const uint8_t *> row(int64_t number) = 0;
};

/// What is done with an image while it is open.
class ImageVisitor {
public:
  virtual Status visit(ImageRows &image) = 0;

protected:
  ~ImageVisitor() = default;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGES_IMAGEROWS_H
