//===- Cudnn.cpp - the library, loaded at run time ------------------------===//
#include "compiler/cuda/library/cudnn/Cudnn.h"
#include <dlfcn.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace gc::cuda {

static Cudnn library;
const Cudnn &cudnn() { return library; }

// Whether the system's driver can load kernels. One that finds no device cannot, and once loaded it
// would be in the way of ours: a child looks.
static bool systemDriverWorks() {
  pid_t child = fork();
  if (child == 0) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto init = driver ? reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit")) : nullptr;
    bool works = init && dlsym(driver, "cuLibraryLoadData") && init(0) == 0;
    _exit(works ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static std::string loadDriver() {
  if (systemDriverWorks() && dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL))
    return "libcuda.so.1";
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto shim = program.parent_path().parent_path() / "lib" / "compile-only" / "libcuda.so.1";
  // The library asks for its driver by name and gets what is loaded under it.
  if (!dlopen(shim.c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw NoPlan(std::string("no driver, and no compile-only one: ") + dlerror());
  return "compile-only driver of gc";
}

void loadCudnn() {
  library.driver = loadDriver();
  void *handle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw NoPlan(std::string("cannot load cuDNN 9: ") + dlerror());
#define GC_LOOK_UP(name)                                                                           \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name));                   \
  if (!library.name)                                                                               \
    throw NoPlan("libcudnn.so.9 has no " #name "; install cuDNN 9.8 or newer");
  GC_CUDNN_FUNCTIONS(GC_LOOK_UP)
#undef GC_LOOK_UP
  size_t version = library.cudnnGetVersion(); // 91900
  library.version = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
                    "." + std::to_string(version % 100);
}

void check(cudnnStatus_t status, const char *what) {
  if (status == CUDNN_STATUS_SUCCESS)
    return;
  char details[1024] = "";
  library.cudnnGetLastErrorString(details, sizeof details);
  std::string text = std::string(what) + ": " + library.cudnnGetErrorString(status);
  if (details[0])
    text += std::string(" (") + details + ")";
  throw NoPlan(text);
}

} // namespace gc::cuda
