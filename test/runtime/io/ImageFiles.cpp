#include "test/runtime/io/ImageFiles.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
// After cstdio: it wants FILE.
#include <jpeglib.h>
#include <png.h>

TestImage plainImage(int64_t height, int64_t width, std::vector<uint8_t> colour) {
  TestImage image{height, width, static_cast<int>(colour.size()), {}};
  for (int64_t i = 0; i < height * width; ++i)
    image.pixels.insert(image.pixels.end(), colour.begin(), colour.end());
  return image;
}

TestImage waveImage(int64_t height, int64_t width, int channels, int number) {
  TestImage image{height, width, channels, {}};
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        image.pixels.push_back(
            static_cast<uint8_t>(127 + 60 * std::sin(0.1 * static_cast<double>(x) + number + c) +
                                 60 * std::cos(0.07 * static_cast<double>(y) - 2 * number + c)));
  return image;
}

std::string jpegBytes(const TestImage &image, bool progressive) {
  jpeg_compress_struct encoder = {};
  jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char *bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&encoder, &bytes, &count);
  encoder.image_width = static_cast<JDIMENSION>(image.width);
  encoder.image_height = static_cast<JDIMENSION>(image.height);
  encoder.input_components = image.channels;
  encoder.in_color_space = image.channels == 1   ? JCS_GRAYSCALE
                           : image.channels == 3 ? JCS_RGB
                                                 : JCS_CMYK;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 95, TRUE);
  if (progressive)
    jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    auto *row = const_cast<uint8_t *>(image.pixels.data()) +
                encoder.next_scanline * image.width * image.channels;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::string result(reinterpret_cast<char *>(bytes), count);
  std::free(bytes);
  return result;
}

static std::string encodePng(const TestImage &image, int colourType, int bits, bool interlaced,
                             const std::vector<uint8_t> &palette) {
  std::string result;
  png_structp encoder = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(encoder);
  png_set_write_fn(
      encoder, &result,
      [](png_structp target, png_bytep bytes, size_t count) {
        static_cast<std::string *>(png_get_io_ptr(target))
            ->append(reinterpret_cast<char *>(bytes), count);
      },
      [](png_structp) {});
  png_set_IHDR(encoder, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), bits, colourType,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!palette.empty())
    png_set_PLTE(encoder, info, reinterpret_cast<png_const_colorp>(palette.data()),
                 static_cast<int>(palette.size() / 3));
  png_write_info(encoder, info);
  size_t rowBytes = static_cast<size_t>(image.width * image.channels * bits / 8);
  std::vector<uint8_t> pixels;
  for (uint8_t value : image.pixels)
    pixels.insert(pixels.end(), static_cast<size_t>(bits / 8), value);
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < image.height; ++y)
    rows.push_back(pixels.data() + static_cast<size_t>(y) * rowBytes);
  png_write_image(encoder, rows.data());
  png_write_end(encoder, nullptr);
  png_destroy_write_struct(&encoder, &info);
  return result;
}

std::string pngBytes(const TestImage &image, bool wide, bool interlaced) {
  static constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                  PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  return encodePng(image, types[image.channels - 1], wide ? 16 : 8, interlaced, {});
}

std::string palettePngBytes(const TestImage &image, const std::vector<uint8_t> &palette) {
  return encodePng(image, PNG_COLOR_TYPE_PALETTE, 8, false, palette);
}
