// gc-compile's command line.
#ifndef GC_TOOLS_GC_COMPILE_ARGUMENTS_H
#define GC_TOOLS_GC_COMPILE_ARGUMENTS_H

#include "compiler/Compile.h"
#include "runtime/Error.h"

#include <string>

struct Arguments {
  bool noCalibrate = false;
  std::string model;  // IR, or "-"
  std::string output; // empty: only the answer is wanted
  std::string report, html;
  std::string csv, plot; // of --pareto
  bool kernels = false;  // the table of generated kernels
  gc::CompileOptions compile;
};

/// False where the command line says it all (--help, --version, bad usage; then everything has been
/// printed): the tool ends with `exitCode`.
bool parseArguments(int argc, char **argv, Arguments &arguments, int &exitCode);

/// Fails (bad input) where an output cannot be written, or is an input or another output.
gc::runtime::Status checkFiles(const Arguments &arguments);

#endif // GC_TOOLS_GC_COMPILE_ARGUMENTS_H
