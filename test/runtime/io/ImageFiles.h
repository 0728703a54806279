// Small JPEG and PNG files for tests, made with the libraries themselves.
#ifndef GC_TEST_RUNTIME_IO_IMAGEFILES_H
#define GC_TEST_RUNTIME_IO_IMAGEFILES_H

#include <cstdint>
#include <string>
#include <vector>

struct TestImage {
  int64_t height = 0, width = 0;
  int channels = 3;            // JPEG: 1, 3 or 4 inks; PNG: 1, 2 (grey, alpha), 3 or 4 (with alpha)
  std::vector<uint8_t> pixels; // interleaved
};

/// All pixels of one colour.
TestImage plainImage(int64_t height, int64_t width, std::vector<uint8_t> colour);
/// Smooth and different everywhere; another one for each number.
TestImage waveImage(int64_t height, int64_t width, int channels, int number);

std::string jpegBytes(const TestImage &image, bool progressive = false);
/// `wide`: with 16 bits a channel, each byte twice.
std::string pngBytes(const TestImage &image, bool wide = false, bool interlaced = false);
/// Pixels are numbers of the palette's colours, three bytes each.
std::string palettePngBytes(const TestImage &image, const std::vector<uint8_t> &palette);

#endif // GC_TEST_RUNTIME_IO_IMAGEFILES_H
