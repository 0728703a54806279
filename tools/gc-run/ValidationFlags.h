// The flags about validation and evaluation, and what they need of each other.
#ifndef GC_TOOLS_GC_RUN_VALIDATIONFLAGS_H
#define GC_TOOLS_GC_RUN_VALIDATIONFLAGS_H

#include "tools/gc-run/Arguments.h"

namespace CLI {
class App;
} // namespace CLI

class ValidationFlags {
public:
  /// The arguments are filled in and must outlive this.
  explicit ValidationFlags(Arguments &arguments) : arguments(arguments) {}
  void add(CLI::App &app);
  /// Which checkpoints stay; beside --checkpoint, which must be there.
  void addKeep(CLI::App &app);
  /// After parsing. Fails (bad input) where a flag would have no effect.
  gc::runtime::Status finish(const CLI::App &app);

private:
  Arguments &arguments;
  uint64_t patience = 0;
  double minDelta = 0;
  std::string validateEvery = "1", monitor = "loss:min", keep;
};

#endif // GC_TOOLS_GC_RUN_VALIDATIONFLAGS_H
