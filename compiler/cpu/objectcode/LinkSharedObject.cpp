//===- LinkSharedObject.cpp - Object files to a shared object -------------===//
#include "compiler/cpu/objectcode/LinkSharedObject.h"
#include "compiler/lowering/MemoryFile.h"
#include "lld/Common/Driver.h"
#include "passes/algorithms/ParallelTasks.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace gc::cpu {
namespace {

/// The output that lld writes to: a pipe. For a file lld would write another one beside it and
/// rename that; into a pipe it writes directly. A thread reads while lld writes, because a pipe
/// holds only a little. Where the system gives no thread, the output is a temporary file, which is
/// removed (unless this process is killed).
class LinkerOutput {
public:
  ~LinkerOutput() { finish(); }

  llvm::Error open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return llvm::createStringError("cannot create a pipe for the linked kernels: " +
                                     llvm::Twine(std::strerror(errno)));
    readEnd = ends[0];
    writeEnd = ends[1];
    name = "/proc/self/fd/" + std::to_string(writeEnd);
    if (thread.add())
      return llvm::Error::success();
    llvm::SmallString<128> file;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("gc-kernels", "so", file))
      return llvm::createStringError(code, "cannot create a temporary file: " + code.message());
    name = temporary = file.str().str();
    return llvm::Error::success();
  }
  const std::string &path() const { return name; }
  /// Closes the output and returns what was written.
  std::vector<uint8_t> finish() {
    if (writeEnd >= 0)
      close(writeEnd); // the reader comes to the end
    thread.join();
    if (readEnd >= 0)
      close(readEnd);
    readEnd = writeEnd = -1;
    if (!temporary.empty()) {
      if (auto file = llvm::MemoryBuffer::getFile(temporary, /*IsText=*/false))
        bytes.assign((*file)->getBufferStart(), (*file)->getBufferEnd());
      llvm::sys::fs::remove(temporary);
      temporary.clear();
    }
    return std::move(bytes);
  }

private:
  void readAll() {
    char part[1 << 16];
    for (ssize_t count; (count = read(readEnd, part, sizeof part)) != 0;) {
      if (count < 0 && errno != EINTR)
        return;
      bytes.insert(bytes.end(), part, part + std::max<ssize_t>(count, 0));
    }
  }

  int readEnd = -1, writeEnd = -1;
  std::string name, temporary;
  std::vector<uint8_t> bytes;
  std::function<void()> work = [this] { readAll(); };
  HelperThreads<std::function<void()>> thread{work};
};

/// Finds undefined symbols before linking: otherwise one would show only when a kernel is called.
llvm::Error checkUndefinedSymbols(llvm::StringRef bytes) {
  auto object =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernels.o"));
  if (!object)
    return object.takeError();
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined))
      continue;
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (!name->empty() && *name != "memcpy" && *name != "memmove" && *name != "memset")
      return llvm::createStringError("the generated code calls '" + *name +
                                     "', which no kernel may; expand it in ExpandMath.cpp");
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::vector<uint8_t>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects) {
  std::vector<codegen::MemoryFile> files;
  for (const llvm::SmallVector<char, 0> &object : objects) {
    llvm::StringRef bytes(object.data(), object.size());
    if (llvm::Error error = checkUndefinedSymbols(bytes))
      return error;
    auto file = codegen::MemoryFile::create(bytes);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  LinkerOutput output;
  if (llvm::Error error = output.open())
    return error;
  std::vector<std::string> arguments = {"ld.lld", "-shared",     "--threads=1",
                                        "-z",     "noexecstack", "--build-id=none",
                                        "-o",     output.path(), "--hash-style=gnu"};
  for (const codegen::MemoryFile &file : files)
    arguments.push_back(file.path());

  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  {
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    llvm::raw_string_ostream stream(messages);
    lld::DriverDef driver{lld::Gnu, &lld::elf::link};
    lld::Result result = lld::lldMain(pointers, stream, stream, driver);
    if (result.retCode != 0)
      return llvm::createStringError("linking the kernels failed: " + messages);
  }
  std::vector<uint8_t> linked = output.finish();
  if (linked.empty())
    return llvm::createStringError("linking the kernels gave nothing");
  return linked;
}

} // namespace gc::cpu
