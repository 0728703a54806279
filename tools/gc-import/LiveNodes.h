// Which nodes a model's outputs need. The others (the counters of batch norms, checks, what is
// computed for nobody) are neither imported nor missed.
#ifndef GC_TOOLS_GC_IMPORT_LIVENODES_H
#define GC_TOOLS_GC_IMPORT_LIVENODES_H

#include "tools/gc-import/Program.h"

namespace gc::importer {

/// Whether an op writes to its first argument: its name ends in an underscore.
bool isInPlace(const std::string &target);
/// The op that computes the same without writing: `aten.relu.default` of `aten.relu_.default`.
std::string functionalTarget(const std::string &target);

/// For each node. Tensors that may share memory live and die together.
std::vector<bool> liveNodes(const Program &program);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_LIVENODES_H
