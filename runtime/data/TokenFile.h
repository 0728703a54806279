// Text as numbers: files of tokens alone, one after the other, as language models are trained on.
#ifndef GC_RUNTIME_DATA_TOKENFILE_H
#define GC_RUNTIME_DATA_TOKENFILE_H

#include "runtime/data/Dataset.h"

namespace gc::runtime {

/// `FILE[:u16|u32|i32|i64]` of --data=tokens:…, little-endian, u16 where no type is given. Sample i
/// of a model that takes T tokens is the T from i * T on, its labels the T from i * T + 1 on: each
/// token's label is the next one. Fails (bad input) unless that is what the model takes.
Result<DataSource> openTokenFile(const std::string &spec, const std::string &argument,
                                 const ModelInput &input);

/// Its path alone.
std::string tokenFilePath(const std::string &argument);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_TOKENFILE_H
