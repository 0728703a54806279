// A folder for each class with JPEG and PNG files in it, as torchvision's ImageFolder reads it.
#ifndef GC_RUNTIME_DATA_IMAGEFOLDER_H
#define GC_RUNTIME_DATA_IMAGEFOLDER_H

#include "runtime/data/ImageSource.h"

#include <memory>
#include <string>
#include <vector>

namespace gc::runtime {

/// Where the splits of `images:DIR` are: DIR/train, DIR/val and DIR/test; or DIR itself.
struct ImageFolders {
  std::string train, validation, test; // empty where there is none
};
ImageFolders findImageFolders(const std::string &directory);

struct ImageFolder {
  std::unique_ptr<ImageSource> images;
  std::vector<std::string> classes; // a label is an index into these
  uint64_t others = 0;              // files that are neither .jpg, .jpeg nor .png
};

/// Lists the files; opens none. Classes are the folders in `directory`, sorted by name, or those
/// given, of which the folder may have some. Fails (bad input) where there is no class, where one
/// has no image, or where a folder is none of the classes given.
Result<ImageFolder> openImageFolder(const std::string &directory,
                                    const std::vector<std::string> &classes = {});

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_IMAGEFOLDER_H
