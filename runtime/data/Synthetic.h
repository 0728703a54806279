// Random samples: normal values and uniform labels, the same for the same seed. Made for
// measuring speed and memory, so delivering them costs no more than a copy.
#ifndef GC_RUNTIME_DATA_SYNTHETIC_H
#define GC_RUNTIME_DATA_SYNTHETIC_H

#include "runtime/data/Dataset.h"

namespace gc::runtime {

Result<DataSource> openSynthetic(const ModelInput &input, uint64_t seed);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_SYNTHETIC_H
