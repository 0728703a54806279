#include "runtime/hal/cpu/SharedObject.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gc::runtime::hal {

Result<std::unique_ptr<SharedObject>> SharedObject::load(const gc::plan::Kernels *kernels) {
  std::unique_ptr<SharedObject> object(new SharedObject());
  if (!kernels || !kernels->symbols() || kernels->symbols()->size() == 0)
    return object;
  int file = ::memfd_create("gc-kernels", MFD_CLOEXEC);
  if (file < 0)
    return deviceError(std::string("cannot create a file in memory for the kernels: ") +
                       std::strerror(errno));
  const auto &bytes = *kernels->object();
  for (size_t done = 0; done < bytes.size();) {
    ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      Error error =
          runFailed(std::string("cannot store the kernels in memory: ") + std::strerror(errno) +
                    (errno == EFBIG ? "; 'ulimit -f' limits it like a file" : ""));
      ::close(file);
      return error;
    }
    done += static_cast<size_t>(written);
  }
  std::string path = "/proc/self/fd/" + std::to_string(file);
  object->handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *reason = object->handle_ ? nullptr : ::dlerror();
  ::close(file);
  if (!object->handle_)
    return deviceError(std::string("cannot load the plan's kernels: ") +
                       (reason ? reason : "no reason given") +
                       "; compile the plan on this machine again");
  for (const flatbuffers::String *symbol : *kernels->symbols()) {
    void *address = ::dlsym(object->handle_, symbol->c_str());
    if (!address)
      return badInput("the plan's kernels lack '" + symbol->str() + "'; compile it again");
    object->kernels_.push_back(reinterpret_cast<Kernel>(address));
    object->names_.push_back(symbol->str());
  }
  return object;
}

SharedObject::~SharedObject() {
  if (handle_)
    ::dlclose(handle_);
}

} // namespace gc::runtime::hal
