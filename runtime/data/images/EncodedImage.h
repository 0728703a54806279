// JPEG and PNG files, told by content and not by name.
//
// Everything becomes 8 bits a channel, grey or RGB: palettes and grey of fewer bits are expanded,
// 16 bits are scaled, alpha is dropped (as torchvision's ImageFolder does), CMYK and YCCK become
// RGB. EXIF orientation, colour profiles and gamma are ignored.
#ifndef GC_RUNTIME_DATA_IMAGES_ENCODEDIMAGE_H
#define GC_RUNTIME_DATA_IMAGES_ENCODEDIMAGE_H

#include "runtime/data/images/FileBytes.h"
#include "runtime/data/images/ImageRows.h"

namespace gc::runtime {

/// What an image may have at most; a header that claims more is refused before memory is asked for.
inline constexpr int64_t kMostImageSide = 65535, kMostImagePixels = int64_t{1} << 27;

/// Bytes that an open image needs of its caller: a piece of the file, and one row.
inline constexpr size_t kEncodedImageScratchBytes = FileBytes::kBufferBytes + 4 * 65536;

/// Opens the image in bytes [begin, end) of a file and shows it to the visitor. `scratch` has
/// kEncodedImageScratchBytes bytes. Fails (bad input) with a text that says what is wrong but not
/// with which image: "it is truncated". The decoders' libraries allocate; nothing else does unless
/// it fails or a PNG is interlaced.
Status visitEncodedImage(const OpenFile &file, uint64_t begin, uint64_t end, uint8_t *scratch,
                         ImageVisitor &visitor);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGES_ENCODEDIMAGE_H
