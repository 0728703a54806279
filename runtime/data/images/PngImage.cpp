#include "runtime/data/images/PngImage.h"

#include "runtime/data/images/EncodedImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gc::runtime {

PngImage::~PngImage() { png_destroy_read_struct(&decoder, &info, nullptr); }

void PngImage::failed(png_structp decoder, png_const_charp text) {
  PngImage &image = *static_cast<PngImage *>(png_get_error_ptr(decoder));
  std::strncpy(image.message, text, sizeof image.message - 1);
  std::longjmp(image.jump, 1);
}

void PngImage::readBytes(png_structp decoder, png_bytep target, size_t count) {
  PngImage &image = *static_cast<PngImage *>(png_get_io_ptr(decoder));
  while (count > 0) {
    bool isMore = true;
    if (image.pieceBytes == 0) {
      Result<std::pair<const uint8_t *, size_t>> piece = image.bytes.piece();
      if (!piece) {
        image.readFailure = piece.error();
        isMore = false;
      } else {
        std::tie(image.piece, image.pieceBytes) = *piece;
        isMore = image.pieceBytes > 0;
        image.truncated = !isMore;
      }
    }
    if (!isMore)
      break;
    size_t part = std::min(count, image.pieceBytes);
    std::memcpy(target, image.piece, part);
    image.piece += part;
    image.pieceBytes -= part;
    target += part;
    count -= part;
  }
  if (count > 0)
    std::longjmp(image.jump, 1);
}

bool PngImage::readHeader() {
  if (setjmp(jump))
    return false;
  decoder = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, failed, warned);
  info = decoder ? png_create_info_struct(decoder) : nullptr;
  if (!info)
    return false;
  png_set_read_fn(decoder, this, readBytes);
  png_set_user_limits(decoder, static_cast<png_uint_32>(kMostImageSide),
                      static_cast<png_uint_32>(kMostImageSide));
  png_read_info(decoder, info);
  png_set_expand(decoder);
  png_set_scale_16(decoder);
  png_set_strip_alpha(decoder);
  interlaced = png_set_interlace_handling(decoder) > 1;
  png_read_update_info(decoder, info);
  return true;
}

Status PngImage::open() {
  if (!readHeader())
    return problem();
  height = png_get_image_height(decoder, info);
  width = png_get_image_width(decoder, info);
  channels = png_get_channels(decoder, info);
  return {};
}

bool PngImage::readRow() {
  if (setjmp(jump))
    return false;
  png_read_row(decoder, rowBuffer, nullptr);
  return true;
}

bool PngImage::readAll() {
  if (setjmp(jump))
    return false;
  png_read_image(decoder, pixelRows.data());
  return true;
}

Result<const uint8_t *> PngImage::row(int64_t number) {
  if (!interlaced) {
    for (; rowsRead <= number; ++rowsRead)
      if (!readRow())
        return problem();
    return rowBuffer;
  }
  if (pixels.empty()) {
    size_t rowBytes = static_cast<size_t>(width * channels);
    pixels.resize(static_cast<size_t>(height) * rowBytes);
    for (int64_t y = 0; y < height; ++y)
      pixelRows.push_back(pixels.data() + static_cast<size_t>(y) * rowBytes);
    if (!readAll())
      return problem();
  }
  return pixelRows[static_cast<size_t>(number)];
}

Error PngImage::problem() const {
  if (readFailure)
    return *readFailure;
  if (truncated)
    return badInput("it is truncated");
  return badInput(fmt::format("it is damaged ({})", message[0] ? message : "libpng cannot start"));
}

} // namespace gc::runtime
