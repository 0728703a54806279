// The flags that shape a plan; gc-compile and gc-run have the same ones.
#ifndef GC_TOOLS_FLAGS_COMPILEFLAGS_H
#define GC_TOOLS_FLAGS_COMPILEFLAGS_H

#include "compiler/Compile.h"
#include "runtime/Error.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

/// Writes what the user gives into `options`, which must outlive it. First add(), then the app's
/// parse, then finish().
class CompileFlags {
public:
  explicit CompileFlags(gc::CompileOptions &options) : options(options) {}

  void add(CLI::App &app);
  /// What CLI11 cannot check: sizes, PyTorch's ranges of optimizer settings. Fails as bad input.
  gc::runtime::Status finish();
  /// The first of these flags on the command line, empty where there was none. A finished plan
  /// cannot follow any of them.
  std::string firstGiven() const;
  /// --no-calibrate: nothing that was measured on this machine is used.
  bool noCalibrate() const { return noCalibrate_; }

private:
  CLI::Option *remember(CLI::Option *option, const char *group);
  /// What was given but would be ignored.
  gc::runtime::Status checkWishes() const;
  /// Which parameters are trained, and towards which labels.
  gc::runtime::Status checkTrained() const;
  gc::runtime::Status readAccumulate();
  gc::runtime::Status readSplit();
  gc::runtime::Status readBudget();

  gc::CompileOptions &options;
  const CLI::App *parsed = nullptr;
  std::string accumulate = "1", split = "auto", budget;
  bool noCalibrate_ = false;
  std::vector<CLI::Option *> all;
};

#endif // GC_TOOLS_FLAGS_COMPILEFLAGS_H
