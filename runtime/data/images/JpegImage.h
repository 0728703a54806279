// A JPEG through libjpeg-turbo, row by row.
//
// Nothing with a destructor may live in a frame that the library's error handler jumps over, which
// is why the decoder's state is in the object and the methods that call it have plain locals.
#ifndef GC_RUNTIME_DATA_IMAGES_JPEGIMAGE_H
#define GC_RUNTIME_DATA_IMAGES_JPEGIMAGE_H

#include "runtime/data/images/FileBytes.h"
#include "runtime/data/images/ImageRows.h"

#include <csetjmp>
#include <cstdio>
// After cstdio: it wants FILE.
#include <jpeglib.h>

#include <optional>

namespace gc::runtime {

class JpegImage final : public ImageRows {
public:
  /// `rowBuffer` takes a row of the widest image at four channels. Nothing is owned.
  JpegImage(FileBytes &bytes, uint8_t *rowBuffer);
  ~JpegImage() override;
  JpegImage(const JpegImage &) = delete;

  /// Reads the header.
  Status open();
  /// Decodes at the least scale of n/8 that is large enough.
  void shrinkTo(int64_t leastHeight, int64_t leastWidth) override;
  Result<const uint8_t *> row(int64_t number) override;

private:
  static void failed(j_common_ptr decoder);
  static void warned(j_common_ptr decoder, int level);
  static boolean fill(j_decompress_ptr decoder);
  static void skip(j_decompress_ptr decoder, long count);
  static JpegImage &of(j_common_ptr decoder) {
    return *static_cast<JpegImage *>(decoder->client_data);
  }
  bool readHeader();
  bool readRow();
  void inkToLight();
  Error problem() const;

  FileBytes &bytes;
  uint8_t *rowBuffer;
  jpeg_decompress_struct decoder = {};
  jpeg_error_mgr errors = {};
  jpeg_source_mgr source = {};
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = {};
  bool truncated = false, started = false;
  std::optional<Error> readFailure;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGES_JPEGIMAGE_H
