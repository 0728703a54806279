// `--list`: the ops of a program, and which of them are not supported.
#ifndef GC_TOOLS_GC_IMPORT_OPLIST_H
#define GC_TOOLS_GC_IMPORT_OPLIST_H

#include "tools/gc-import/Importer.h"

namespace gc::importer {

std::string opListText(mlir::MLIRContext &context, const Program &program,
                       const ImportOptions &options, const ReadConstant &constant);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_OPLIST_H
