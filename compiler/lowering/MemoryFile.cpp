//===- MemoryFile.cpp - Files that never touch a disk ---------------------===//
#include "compiler/lowering/MemoryFile.h"
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace gc::codegen {

static llvm::Error errorOf(const char *what) {
  std::error_code code(errno, std::generic_category());
  return llvm::createStringError(code, llvm::Twine("cannot ") + what +
                                           " a file in memory: " + code.message());
}

llvm::Expected<MemoryFile> MemoryFile::create(llvm::StringRef content) {
  MemoryFile file(memfd_create("gc", 0)); // inherited by children
  if (file.descriptor < 0)
    return errorOf("create");
  while (!content.empty()) {
    ssize_t written = write(file.descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return errorOf("write");
    content = content.drop_front(static_cast<size_t>(written));
  }
  return file;
}

MemoryFile::MemoryFile(MemoryFile &&other) : descriptor(std::exchange(other.descriptor, -1)) {}

MemoryFile::~MemoryFile() {
  if (descriptor >= 0)
    close(descriptor);
}

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> MemoryFile::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(path(), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "cannot read a file in memory: " + buffer.getError().message());
  return std::move(*buffer);
}

} // namespace gc::codegen
