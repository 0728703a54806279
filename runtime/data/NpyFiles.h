// Raw arrays as NumPy saves them: images in one file, labels in another.
#ifndef GC_RUNTIME_DATA_NPYFILES_H
#define GC_RUNTIME_DATA_NPYFILES_H

#include "runtime/data/Dataset.h"
#include "runtime/data/ImageSource.h"
#include "runtime/data/images/FileBytes.h"

namespace gc::runtime {

enum class NpyType { U8, F32, I32, I64 };

struct NpyArray {
  std::string name; // of the file
  OpenFile file;
  NpyType type = NpyType::U8;
  std::vector<int64_t> shape;
  uint64_t begin = 0; // of the values in the file
};

/// Fails (bad input) unless the file is a whole array of u1, f4, i4 or i8, little-endian and in C
/// order.
Result<NpyArray> openNpy(const std::string &path);

struct NpyPair {
  NpyArray images;
  std::vector<int64_t> labels; // one for each image
};
/// Fails (bad input) unless images are u1 or f4, and labels a list of integers, as many.
Result<NpyPair> openNpyPair(const std::string &images, const std::string &labels);

/// Bytes: N x H x W, N x H x W x C or N x C x H x W, where C is 1 or 3 (the last one, where both
/// can be meant). They stay in the file.
Result<std::unique_ptr<ImageSource>> makeNpyImages(NpyPair pair);
/// f32 values, as they are; images are N x C x H x W.
Result<std::unique_ptr<Dataset>> makeNpyValues(NpyPair pair, const ModelInput &input);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_NPYFILES_H
