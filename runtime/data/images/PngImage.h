// A PNG through libpng, row by row; an interlaced one is decoded as a whole. See JpegImage.h for
// how errors leave the library.
#ifndef GC_RUNTIME_DATA_IMAGES_PNGIMAGE_H
#define GC_RUNTIME_DATA_IMAGES_PNGIMAGE_H

#include "runtime/data/images/FileBytes.h"
#include "runtime/data/images/ImageRows.h"

#include <png.h>

#include <csetjmp>
#include <optional>
#include <vector>

namespace gc::runtime {

class PngImage final : public ImageRows {
public:
  /// `rowBuffer` takes a row of the widest image at four channels. Nothing is owned.
  PngImage(FileBytes &bytes, uint8_t *rowBuffer) : bytes(bytes), rowBuffer(rowBuffer) {}
  ~PngImage() override;
  PngImage(const PngImage &) = delete;

  /// Reads the header.
  Status open();
  Result<const uint8_t *> row(int64_t number) override;

private:
  static void failed(png_structp decoder, png_const_charp text);
  static void warned(png_structp, png_const_charp) {}
  static void readBytes(png_structp decoder, png_bytep target, size_t count);
  bool readHeader();
  bool readRow();
  bool readAll();
  Error problem() const;

  FileBytes &bytes;
  uint8_t *rowBuffer;
  png_structp decoder = nullptr;
  png_infop info = nullptr;
  std::jmp_buf jump;
  char message[160] = {};
  bool truncated = false, interlaced = false;
  std::optional<Error> readFailure;
  int64_t rowsRead = 0;
  const uint8_t *piece = nullptr;
  size_t pieceBytes = 0;
  std::vector<uint8_t> pixels;      // of an interlaced image
  std::vector<png_bytep> pixelRows; // in there
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGES_PNGIMAGE_H
