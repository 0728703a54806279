//===- LinkSharedObject.h - Object files to a shared object ---------------===//
#ifndef GC_COMPILER_CPU_OBJECTCODE_LINKSHAREDOBJECT_H
#define GC_COMPILER_CPU_OBJECTCODE_LINKSHAREDOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace gc::cpu {

/// Links ELF object files (their bytes, in this order) into a shared object and returns its bytes.
/// Nothing is written to disk. One call runs at a time: lld keeps its state in globals. An
/// undefined symbol that is not one of memcpy, memmove and memset is an error.
llvm::Expected<std::vector<uint8_t>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_OBJECTCODE_LINKSHAREDOBJECT_H
