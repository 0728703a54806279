//===- MemoryFile.h - Files that never touch a disk -----------------------===//
//
// For programs and libraries that insist on a file name. Nothing is left behind, however this
// process ends.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_LOWERING_MEMORYFILE_H
#define GC_COMPILER_LOWERING_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace gc::codegen {

/// A file in memory that exists as long as this object. Child processes inherit it.
class MemoryFile {
public:
  static llvm::Expected<MemoryFile> create(llvm::StringRef content = "");
  MemoryFile(MemoryFile &&other);
  ~MemoryFile();

  /// A name for it that is good in this process and its children.
  std::string path() const;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read() const;

private:
  explicit MemoryFile(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

} // namespace gc::codegen

#endif // GC_COMPILER_LOWERING_MEMORYFILE_H
