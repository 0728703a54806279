//===- Cudnn.cpp - the library, loaded at run time ------------------------===//
#include "compiler/cuda/library/cudnn/Cudnn.h"
#include <dlfcn.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace gc::cuda {

static Cudnn library;
const Cudnn &cudnn() { return library; }

// Whether the system's driver can load kernels for such a GPU, that is, whether it drives one. A
// child process finds out: once loaded here, the driver would keep ours from being loaded.
static bool systemDriverServes(int version) {
  pid_t child = fork();
  if (child == 0) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto find = [&](const char *name) { return driver ? dlsym(driver, name) : nullptr; };
    auto init = reinterpret_cast<int (*)(unsigned)>(find("cuInit"));
    auto attribute = reinterpret_cast<int (*)(int *, int, int)>(find("cuDeviceGetAttribute"));
    constexpr int majorVersion = 75, minorVersion = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_
    int major = 0, minor = 0;
    bool serves = init && attribute && find("cuLibraryLoadData") && init(0) == 0 &&
                  attribute(&major, majorVersion, 0) == 0 &&
                  attribute(&minor, minorVersion, 0) == 0 && 10 * major + minor == version;
    _exit(serves ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static std::string loadDriver(int version) {
  if (systemDriverServes(version) && dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL))
    return "libcuda.so.1";
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto shim = program.parent_path().parent_path() / "lib" / "gc" / "compile-only" / "libcuda.so.1";
  // The library asks for its driver by name and gets what is loaded under it.
  if (!dlopen(shim.c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw NoPlan(std::string("no driver, and no compile-only one: ") + dlerror());
  return "compile-only driver of gc";
}

void loadCudnn(int version) {
  library.driver = loadDriver(version);
  void *handle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw NoPlan(std::string("cannot load cuDNN 9: ") + dlerror());
#define GC_LOOK_UP(name)                                                                           \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name));                   \
  if (!library.name)                                                                               \
    throw NoPlan("libcudnn.so.9 has no " #name "; install cuDNN 9.8 or newer");
  GC_CUDNN_FUNCTIONS(GC_LOOK_UP)
#undef GC_LOOK_UP
  size_t number = library.cudnnGetVersion(); // 91900
  library.version = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) +
                    "." + std::to_string(number % 100);
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
