//===- LoadedKernels.h - Compiled kernels, callable in this process -------===//
#ifndef GC_TEST_COMPILER_OBJECTCODE_LOADEDKERNELS_H
#define GC_TEST_COMPILER_OBJECTCODE_LOADEDKERNELS_H

#include "compiler/cpu/objectcode/KernelLibrary.h"
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace gc::test {

using Kernel = void (*)(void *const *buffers, int64_t begin, int64_t end);

/// The library of a compile, loaded from memory; unloaded with the object.
class LoadedKernels {
public:
  explicit LoadedKernels(const cpu::KernelLibrary &library) {
    int file = memfd_create("kernels", 0);
    if (file < 0 ||
        write(file, library.object.data(), library.object.size()) != ssize_t(library.object.size()))
      abort();
    std::string path = "/proc/self/fd/" + std::to_string(file);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    close(file);
    if (!handle)
      message = dlerror();
  }
  ~LoadedKernels() {
    if (handle)
      dlclose(handle);
  }
  LoadedKernels(const LoadedKernels &) = delete;
  LoadedKernels &operator=(const LoadedKernels &) = delete;

  /// Why loading failed; empty when it did not.
  const std::string &error() const { return message; }
  Kernel operator[](const std::string &name) const {
    return reinterpret_cast<Kernel>(dlsym(handle, name.c_str()));
  }

private:
  void *handle = nullptr;
  std::string message;
};

/// 64-byte aligned, as the kernels demand, with a guard behind it that must stay as it is.
template <typename T> class Buffer {
public:
  explicit Buffer(size_t size, T value = T()) : count(size) {
    size_t bytes = (size * sizeof(T) + guardBytes + 63) / 64 * 64;
    memory.reset(static_cast<T *>(std::aligned_alloc(64, bytes)));
    std::fill(memory.get(), memory.get() + size, value);
    std::fill(guard(), guard() + guardBytes, guardValue);
  }
  T *data() { return memory.get(); }
  T &operator[](size_t i) { return memory.get()[i]; }
  const T &operator[](size_t i) const { return memory.get()[i]; }
  size_t size() const { return count; }
  bool guardIsIntact() const {
    for (size_t i = 0; i < guardBytes; ++i)
      if (guard()[i] != guardValue)
        return false;
    return true;
  }

private:
  static constexpr size_t guardBytes = 64;
  static constexpr uint8_t guardValue = 0xa5;
  struct Free {
    void operator()(T *pointer) const { std::free(pointer); }
  };
  uint8_t *guard() const { return reinterpret_cast<uint8_t *>(memory.get() + count); }
  size_t count;
  std::unique_ptr<T, Free> memory;
};

} // namespace gc::test

#endif // GC_TEST_COMPILER_OBJECTCODE_LOADEDKERNELS_H
