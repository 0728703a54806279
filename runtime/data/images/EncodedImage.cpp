#include "runtime/data/images/EncodedImage.h"

#include "runtime/data/images/JpegImage.h"
#include "runtime/data/images/PngImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace gc::runtime {

static Status checkSize(const ImageRows &image) {
  if (image.height <= kMostImageSide && image.width <= kMostImageSide &&
      image.height * image.width <= kMostImagePixels)
    return {};
  return badInput(fmt::format("it claims {} x {} pixels; at most {} are read, and {} a side",
                              image.width, image.height, kMostImagePixels, kMostImageSide));
}

template <class Image>
static Status visitAs(FileBytes &bytes, uint8_t *rowBuffer, ImageVisitor &visitor) {
  Image image(bytes, rowBuffer);
  if (Status opened = image.open(); !opened)
    return opened;
  if (Status fine = checkSize(image); !fine)
    return fine;
  return visitor.visit(image);
}

Status visitEncodedImage(const OpenFile &file, uint64_t begin, uint64_t end, uint8_t *scratch,
                         ImageVisitor &visitor) {
  if (begin == end)
    return badInput("it is empty");
  FileBytes bytes(file, begin, end, scratch);
  uint8_t magic[8] = {};
  Result<size_t> got = bytes.peek(magic, sizeof magic);
  if (!got)
    return got.error();
  uint8_t *rowBuffer = scratch + FileBytes::kBufferBytes;
  if (magic[0] == 0xff && magic[1] == 0xd8)
    return visitAs<JpegImage>(bytes, rowBuffer, visitor);
  static constexpr uint8_t png[8] = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a};
  if (std::equal(png, png + 8, magic))
    return visitAs<PngImage>(bytes, rowBuffer, visitor);
  std::string start;
  for (size_t i = 0; i < *got; ++i)
    start += fmt::format("{:02x}", magic[i]);
  return badInput(fmt::format("it is neither JPEG nor PNG: it begins with {}", start));
}

} // namespace gc::runtime
