// Which buffers a command of a plan writes, for reports that tell where a value lies.
#ifndef GC_RUNTIME_REPORT_COMMANDWRITES_H
#define GC_RUNTIME_REPORT_COMMANDWRITES_H

#include <cstdint>
#include <vector>

namespace gc::plan {
struct Command;
}

namespace gc::runtime {

/// Indices into Plan.buffers, in the order in which the command names them; without the workspaces
/// of libraries.
std::vector<uint32_t> writtenBuffers(const plan::Command &command);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_COMMANDWRITES_H
