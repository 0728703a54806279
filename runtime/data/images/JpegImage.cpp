#include "runtime/data/images/JpegImage.h"

#include <fmt/format.h>
#include <jerror.h>

namespace gc::runtime {

JpegImage::JpegImage(FileBytes &bytes, uint8_t *rowBuffer) : bytes(bytes), rowBuffer(rowBuffer) {
  decoder.err = jpeg_std_error(&errors);
  errors.error_exit = failed;
  errors.emit_message = warned;
  decoder.client_data = this;
}

JpegImage::~JpegImage() { jpeg_destroy_decompress(&decoder); }

void JpegImage::failed(j_common_ptr decoder) {
  JpegImage &image = of(decoder);
  decoder->err->format_message(decoder, image.message);
  std::longjmp(image.jump, 1);
}

/// Warnings that mean lost pixels are errors: a network must not learn from grey filler. Others,
/// such as stray bytes before a marker, are common in the wild and harmless.
void JpegImage::warned(j_common_ptr decoder, int level) {
  if (level >= 0)
    return;
  switch (decoder->err->msg_code) {
  case JWRN_HIT_MARKER:
  case JWRN_HUFF_BAD_CODE:
  case JWRN_ARITH_BAD_CODE:
  case JWRN_MUST_RESYNC:
  case JWRN_JPEG_EOF:
    failed(decoder);
  }
}

boolean JpegImage::fill(j_decompress_ptr decoder) {
  JpegImage &image = of(reinterpret_cast<j_common_ptr>(decoder));
  bool isMore = false;
  {
    Result<std::pair<const uint8_t *, size_t>> piece = image.bytes.piece();
    if (!piece) {
      image.readFailure = piece.error();
    } else {
      image.source.next_input_byte = piece->first;
      image.source.bytes_in_buffer = piece->second;
      isMore = piece->second > 0;
      image.truncated = !isMore;
    }
  }
  if (!isMore)
    std::longjmp(image.jump, 1);
  return TRUE;
}

void JpegImage::skip(j_decompress_ptr decoder, long count) {
  JpegImage &image = of(reinterpret_cast<j_common_ptr>(decoder));
  while (count > 0) {
    if (image.source.bytes_in_buffer == 0)
      fill(decoder);
    size_t part = std::min<size_t>(static_cast<size_t>(count), image.source.bytes_in_buffer);
    image.source.next_input_byte += part;
    image.source.bytes_in_buffer -= part;
    count -= static_cast<long>(part);
  }
}

bool JpegImage::readHeader() {
  if (setjmp(jump))
    return false;
  jpeg_create_decompress(&decoder);
  source.init_source = [](j_decompress_ptr) {};
  source.fill_input_buffer = fill;
  source.skip_input_data = skip;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = [](j_decompress_ptr) {};
  decoder.src = &source;
  jpeg_read_header(&decoder, TRUE);
  switch (decoder.jpeg_color_space) {
  case JCS_GRAYSCALE:
    decoder.out_color_space = JCS_GRAYSCALE;
    break;
  case JCS_CMYK:
  case JCS_YCCK:
    decoder.out_color_space = JCS_CMYK;
    break;
  default:
    decoder.out_color_space = JCS_RGB;
  }
  jpeg_calc_output_dimensions(&decoder);
  return true;
}

Status JpegImage::open() {
  if (!readHeader())
    return problem();
  height = decoder.output_height;
  width = decoder.output_width;
  channels = decoder.out_color_space == JCS_GRAYSCALE ? 1 : 3;
  return {};
}

void JpegImage::shrinkTo(int64_t leastHeight, int64_t leastWidth) {
  // The library's own rounding: upwards.
  auto scaled = [](JDIMENSION side, unsigned eighths) { return (int64_t{side} * eighths + 7) / 8; };
  unsigned eighths = 1;
  while (eighths < 8 && (scaled(decoder.image_height, eighths) < leastHeight ||
                         scaled(decoder.image_width, eighths) < leastWidth))
    ++eighths;
  decoder.scale_num = eighths;
  decoder.scale_denom = 8;
  height = scaled(decoder.image_height, eighths);
  width = scaled(decoder.image_width, eighths);
}

bool JpegImage::readRow() {
  if (setjmp(jump))
    return false;
  if (!started) {
    jpeg_start_decompress(&decoder);
    started = true;
  }
  jpeg_read_scanlines(&decoder, &rowBuffer, 1);
  return true;
}

Result<const uint8_t *> JpegImage::row(int64_t number) {
  while (!started || decoder.output_scanline <= number) {
    if (!readRow())
      return problem();
    if (decoder.out_color_space == JCS_CMYK)
      inkToLight();
  }
  return rowBuffer;
}

/// Four inks to three colours, in place. Adobe's programs store inks inverted, and say so.
void JpegImage::inkToLight() {
  const bool isInverted = decoder.saw_Adobe_marker;
  for (int64_t x = 0; x < width; ++x) {
    const uint8_t *inks = rowBuffer + 4 * x;
    unsigned white = isInverted ? inks[3] : 255 - inks[3];
    for (int i = 0; i < 3; ++i) {
      unsigned light = isInverted ? inks[i] : 255 - inks[i];
      rowBuffer[3 * x + i] = static_cast<uint8_t>((light * white + 127) / 255);
    }
  }
}

Error JpegImage::problem() const {
  if (readFailure)
    return *readFailure;
  if (truncated)
    return badInput("it is truncated");
  return badInput(fmt::format("it is damaged or of an unknown kind of JPEG ({})", message));
}

} // namespace gc::runtime
