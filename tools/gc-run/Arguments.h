// gc-run's command line.
#ifndef GC_TOOLS_GC_RUN_ARGUMENTS_H
#define GC_TOOLS_GC_RUN_ARGUMENTS_H

#include "compiler/Compile.h"
#include "runtime/Error.h"
#include "runtime/trainer/TrainPlan.h"

#include <string>

struct Arguments {
  std::string model; // IR, a plan, or "-"
  bool selftest = false, selftestQuick = false, verify = false;
  std::vector<std::string> selftestSections; // empty: all
  std::vector<std::string> selftestOnly;     // empty: all cases
  int selftestLimit = 0;                     // seconds of a case; 0: as it is
  std::string calibrate; // file for what the machine does in a second; empty: train
  std::string reference; // of one step, to compare with; empty: train
  gc::CompileOptions compile;
  bool noCalibrate = false; // use and keep nothing that was measured on this machine
  gc::runtime::TrainOptions train;
  std::string compileFlag; // the first given that a finished plan cannot follow any more
};

/// What to do, or the exit code where the command line says it all (--help, --version, bad usage;
/// then everything has been printed).
struct ParsedArguments {
  bool run = false;
  int exitCode = 0;
  Arguments arguments;
};
ParsedArguments parseArguments(int argc, char **argv);

/// Fails (bad input) where an output cannot be written or is an input, before anything is compiled.
gc::runtime::Status checkFiles(const Arguments &arguments);

#endif // GC_TOOLS_GC_RUN_ARGUMENTS_H
