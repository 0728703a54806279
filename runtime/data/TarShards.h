// Tar archives as WebDataset writes them: `KEY.jpg` (or .jpeg, .png) beside `KEY.cls`, a number.
#ifndef GC_RUNTIME_DATA_TARSHARDS_H
#define GC_RUNTIME_DATA_TARSHARDS_H

#include "runtime/data/ImageSource.h"

#include <memory>
#include <string>
#include <vector>

namespace gc::runtime {

struct TarShards {
  std::unique_ptr<ImageSource> images;
  uint64_t files = 0;  // archives
  uint64_t others = 0; // files in them that are neither images nor classes
};

/// `a-{000..009}.tar` is ten names; several ranges are all combinations, the last one fastest, and
/// commas stand between names. Fails (bad input) on a range that is none.
Result<std::vector<std::string>> expandBraces(const std::string &names);

/// Reads where everything is (the archives' headers), and the classes; images are read when they
/// are wanted. Samples are in the order of the archives. Fails (bad input) on an archive that is
/// damaged or compressed, an image without a class and a class without an image.
Result<TarShards> openTarShards(const std::string &names);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_TARSHARDS_H
