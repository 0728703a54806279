// Files made of command times: a trace to look at and a profile for the compiler.
#ifndef GC_RUNTIME_REPORT_COMMANDFILES_H
#define GC_RUNTIME_REPORT_COMMANDFILES_H

#include "runtime/Error.h"
#include "runtime/report/CommandTime.h"

#include <string>
#include <vector>

namespace gc::runtime {

/// The last step as a Chrome/Perfetto trace (open it in ui.perfetto.dev). Atomic.
Result<void> writeTrace(const std::string &path, const std::string &model,
                        const std::vector<CommandTime> &commands);

/// Mean seconds of each op, which `gc-compile --costs` reads. Atomic.
///   {"model": ..., "ops": [{"name", "list", "implementation", "seconds", "executions", "flops",
///    "bytes_moved", "recomputed"}]}
Result<void> writeProfile(const std::string &path, const std::string &model,
                          const std::vector<CommandTime> &commands);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_COMMANDFILES_H
