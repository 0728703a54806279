// --classes: another number of outputs for the layer that a model ends with.
#ifndef GC_TOOLS_GC_IMPORT_HEAD_H
#define GC_TOOLS_GC_IMPORT_HEAD_H

#include "tools/gc-import/Program.h"

namespace gc::importer {

/// A parameter that starts anew, in a new shape: uniform in [-bound, bound).
struct NewStart {
  std::vector<int64_t> shape;
  double bound = 0;
};

/// Gives the linear layer whose output the model returns so many outputs. Returns its parameters by
/// name; fails (bad input) where the model ends with another op, or its parameters are used twice.
runtime::Result<std::map<std::string, NewStart>> replaceHead(Program &program, int64_t classes);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_HEAD_H
