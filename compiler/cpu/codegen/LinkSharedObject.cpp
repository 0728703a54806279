//===- LinkSharedObject.cpp - Object files to a shared object -------------===//
#include "compiler/cpu/codegen/LinkSharedObject.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace gc::cpu {
namespace {

llvm::Error fileError(const llvm::Twine &what, llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, what + " '" + path + "': " + code.message());
}

/// A symbol that nobody defines would be found only when the kernel is first called.
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
  llvm::SmallString<128> directory;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("gc-kernels", directory))
    return fileError("cannot create the temporary directory", directory, code);
  llvm::scope_exit cleanup([&] { llvm::sys::fs::remove_directories(directory); });

  auto pathOf = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  std::string output = pathOf("kernels.so");
  std::vector<std::string> arguments = {"ld.lld", "-shared",     "--threads=1",
                                        "-z",     "noexecstack", "--build-id=none",
                                        "-o",     output,        "--hash-style=gnu"};
  for (auto [index, object] : llvm::enumerate(objects)) {
    if (llvm::Error error = checkUndefinedSymbols({object.data(), object.size()}))
      return error;
    std::string path = pathOf("kernels." + llvm::Twine(index) + ".o");
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    if (code)
      return fileError("cannot write", path, code);
    stream.write(object.data(), object.size());
    stream.close();
    if (stream.has_error()) {
      code = stream.error();
      stream.clear_error();
      return fileError("cannot write", path, code);
    }
    arguments.push_back(path);
  }

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
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fileError("cannot read the linked kernels", output, buffer.getError());
  return std::vector<uint8_t>((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

} // namespace gc::cpu
