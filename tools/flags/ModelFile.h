// From what the user names to bytes: a model or a plan, in a file or on standard input.
#ifndef GC_TOOLS_FLAGS_MODELFILE_H
#define GC_TOOLS_FLAGS_MODELFILE_H

#include "compiler/Compile.h"
#include "runtime/Error.h"
#include "runtime/process/OutputCheck.h"

#include <string>

/// Everything in the file; `-` is standard input. Fails (bad input) where it cannot be read or is
/// empty.
gc::runtime::Result<std::string> readModelFile(const std::string &path);

/// Whether these bytes claim to be a plan. They may still be a broken one.
bool isPlan(const std::string &bytes);

/// How messages call it: `dir/resnet.mlir`, or `<stdin>`.
std::string displayName(const std::string &path);

/// For checkOutputs(): no output may be this file. Standard input counts where it is one.
gc::runtime::NamedPath modelInput(const std::string &path);

struct CompiledModel {
  gc::CompileResult result;
  double seconds = 0;
};
/// Compiles the text of a model; warnings go to standard error. Fails with the compiler's
/// diagnostics and exit code.
gc::runtime::Result<CompiledModel> compileText(const std::string &text, const std::string &path,
                                               const gc::CompileOptions &options,
                                               bool showWarnings = true);

#endif // GC_TOOLS_FLAGS_MODELFILE_H
