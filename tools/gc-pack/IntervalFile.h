//===- IntervalFile.h - intervals as comma-separated values ------*- C++ -*-===//
#ifndef GC_TOOLS_GC_PACK_INTERVALFILE_H
#define GC_TOOLS_GC_PACK_INTERVALFILE_H

#include "passes/algorithms/packing/Packing.h"
#include "runtime/Error.h"

#include <iosfwd>

namespace gc::pack {

struct IntervalFile {
  std::vector<std::string> ids;
  std::vector<Interval> intervals; ///< of alignment 1
};

/// Reads a file whose first line names the columns; `id`, `lower`, `upper` and `size` are wanted,
/// in any order, others are ignored. Fails (bad input), naming file, line and column, on a missing
/// file or column, a number that is none or does not fit, a negative size, an interval that is
/// never alive and an id that was used before.
runtime::Result<IntervalFile> readIntervals(const std::string &path);

/// Writes `id,lower,upper,size,offset`, whole or not at all.
runtime::Status writePacking(const std::string &path, const IntervalFile &file,
                             const PackingResult &packing);

} // namespace gc::pack

#endif // GC_TOOLS_GC_PACK_INTERVALFILE_H
