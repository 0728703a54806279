// The values of a graph whose ops may write in place and look at each other's memory.
//
// Each name stands for a place in a storage: the storage's tensor seen through some views. Writing
// through a name gives the storage a new tensor, and every other name of it sees that from then on,
// as in PyTorch; nothing in the IR is ever written twice.
#ifndef GC_TOOLS_GC_IMPORT_VALUES_H
#define GC_TOOLS_GC_IMPORT_VALUES_H

#include "tools/gc-import/Views.h"

namespace gc::importer {

class Values {
public:
  explicit Values(Emitter &emitter) : emitter(emitter) {}

  /// A name for a tensor of its own.
  void define(const std::string &name, Tensor tensor);
  /// A name for what `of` looks like through the steps.
  void view(const std::string &name, const std::string &of, const ViewSteps &steps);
  bool has(const std::string &name) const { return places.count(name) != 0; }
  /// As it is now.
  const Tensor &read(const std::string &name);
  /// What was written to the place is this now. False where the place repeats elements.
  bool write(const std::string &name, Tensor tensor);

private:
  struct Storage {
    Tensor tensor;
    uint64_t version = 0;
  };
  struct Place {
    size_t storage;
    ViewSteps steps;
    Tensor seen;
    uint64_t version;
  };

  Emitter &emitter;
  std::vector<Storage> storages;
  std::map<std::string, Place> places;
};

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_VALUES_H
