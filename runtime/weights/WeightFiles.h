// Weights by name, in one safetensors file or in several that an index lists
// (`model.safetensors.index.json`, as Hugging Face writes it).
#ifndef GC_RUNTIME_WEIGHTS_WEIGHTFILES_H
#define GC_RUNTIME_WEIGHTS_WEIGHTFILES_H

#include "runtime/weights/Safetensors.h"

#include <memory>

namespace gc::runtime {

class WeightFiles {
public:
  /// An index is told by its name's end, `.index.json`. Fails (bad input) where a file is missing
  /// or damaged, or does not hold what the index says.
  static Result<WeightFiles> open(const std::string &path);

  struct Tensor {
    const SafetensorsFile *file;
    const SafetensorsEntry *entry;
  };
  const std::map<std::string, Tensor> &tensors() const { return byName; }

private:
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::map<std::string, Tensor> byName;
};

/// The files that open() would read, as far as they can be told.
std::vector<std::string> weightFiles(const std::string &path);

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_WEIGHTFILES_H
