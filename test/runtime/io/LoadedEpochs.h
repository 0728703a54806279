// What the loader makes of a data set.
#ifndef GC_TEST_RUNTIME_IO_LOADEDEPOCHS_H
#define GC_TEST_RUNTIME_IO_LOADEDEPOCHS_H

#include "runtime/data/Loader.h"

#include <string>
#include <vector>

/// Values and labels of micro-batches, behind each other.
struct LoadedEpochs {
  std::vector<float> images;
  std::vector<int64_t> labels;
  std::vector<int64_t> valid; // of each micro-batch
  std::string failure;        // which ended it, or empty
};

/// Two shuffled and augmented epochs, the last micro-batch padded; from a micro-batch on.
LoadedEpochs loadTwoEpochs(const gc::runtime::Dataset &data, const gc::runtime::ModelInput &input,
                           int64_t batch, int workers, gc::runtime::BadSamples *bad = nullptr,
                           uint64_t begin = 0);

#endif // GC_TEST_RUNTIME_IO_LOADEDEPOCHS_H
