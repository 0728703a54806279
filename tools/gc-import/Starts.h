// How parameters start where no weights are loaded: as PyTorch's layers do.
#ifndef GC_TOOLS_GC_IMPORT_STARTS_H
#define GC_TOOLS_GC_IMPORT_STARTS_H

#include "models/Initializers.h"
#include "tools/gc-import/Program.h"
#include "tools/gc-import/Tensor.h"

namespace gc::importer {

/// By what reads a parameter: the weight of a norm starts at 1, that of a convolution is uniform in
/// 1 / sqrt(fan-in), a table is normal, a bias follows its layer.
void findStarts(const Program &program, std::map<std::string, Variable> &variables,
                std::map<const Variable *, models::Initializer> &starts);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_STARTS_H
