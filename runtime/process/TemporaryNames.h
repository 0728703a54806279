// Names of files that must not outlive the process. Whoever made one removes it; a signal that ends
// the process at once finds it here.
#ifndef GC_RUNTIME_PROCESS_TEMPORARYNAMES_H
#define GC_RUNTIME_PROCESS_TEMPORARYNAMES_H

#include <string>

namespace gc::runtime {

/// Remembers a name while it lives. Move-only. There is room for 64; more are not remembered.
class TemporaryName {
public:
  TemporaryName() = default;
  explicit TemporaryName(const std::string &path);
  TemporaryName(TemporaryName &&other) noexcept;
  TemporaryName &operator=(TemporaryName &&other) noexcept;
  ~TemporaryName();

private:
  char *name = nullptr; // owned; null: none
};

/// Removes the files of all remembered names. A signal handler may call it.
void removeTemporaries();

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_TEMPORARYNAMES_H
