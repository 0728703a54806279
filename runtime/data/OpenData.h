// Data sets by the name that --data gives them.
#ifndef GC_RUNTIME_DATA_OPENDATA_H
#define GC_RUNTIME_DATA_OPENDATA_H

#include "runtime/data/Dataset.h"

namespace gc::runtime {

struct DataOptions {
  std::string data = "synthetic"; // what `--data` names
  std::string testData;           // --test-data; empty: the test split of `data`, where it has one
  std::string normalize;          // --normalize, for images of bytes; empty: that of the weights
  std::string normalizeOfWeights; // to start from; empty: not known, mean 0.5 and deviation 0.5
  std::string augment;    // --augment, for images of bytes and, mixing, for all; empty: nothing
  std::string validation; // --validation, see Holdout.h; empty: there is no such split
};

/// Opens what `--data` names: synthetic, fashion-mnist, mnist:DIR, cifar10:DIR, cifar100:DIR,
/// images:DIR, tar:SHARDS, npy:IMAGES.npy,LABELS.npy, tokens:FILE, FILE.safetensors. Named data
/// sets are looked for below $GC_DATASETS, else where Debian's packages put them. Errors (bad
/// input) name the file, what is wrong with it, and the package or flag to use.
Result<DataSource> openData(const DataOptions &options, const ModelInput &input, uint64_t seed);
Result<DataSource> openData(const std::string &spec, const ModelInput &input, uint64_t seed);

/// The files that openData() would read, as far as they exist and can be told by name.
std::vector<std::string> dataFiles(const std::string &spec);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_OPENDATA_H
