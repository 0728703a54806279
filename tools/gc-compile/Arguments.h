// gc-compile's command line.
#ifndef GC_TOOLS_GC_COMPILE_ARGUMENTS_H
#define GC_TOOLS_GC_COMPILE_ARGUMENTS_H

#include "compiler/Compile.h"
#include "runtime/Error.h"
#include "runtime/report/TrainingReport.h"

#include <optional>
#include <string>

struct Arguments {
  bool noCalibrate = false;
  gc::runtime::OriginReport origin; // for the report
  std::string model;                // IR, or "-"
  std::string output;               // empty: only the answer is wanted
  std::string report, html;
  std::string csv, plot; // of --pareto, and the former of --what-if
  bool maxBatch = false;
  std::optional<uint64_t> reserve; // of --max-batch
  std::string whatIf;              // the question as it was asked; empty: none
  bool kernels = false;            // the table of generated kernels
  gc::CompileOptions compile;
};

/// False where the command line says it all (--help, --version, bad usage; then everything has been
/// printed): the tool ends with `exitCode`.
bool parseArguments(int argc, char **argv, Arguments &arguments, int &exitCode);

/// Fails (bad input) where an output cannot be written, or is an input or another output.
gc::runtime::Status checkFiles(const Arguments &arguments);

/// Writes the file whole or not at all; nothing where `path` is empty, as it was not asked for.
gc::runtime::Status writeIfAsked(const std::string &path, const std::string &text);

#endif // GC_TOOLS_GC_COMPILE_ARGUMENTS_H
