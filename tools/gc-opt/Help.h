//===- Help.h - gc-opt's own --help ------------------------------*- C++ -*-===//
#ifndef GC_TOOLS_GC_OPT_HELP_H
#define GC_TOOLS_GC_OPT_HELP_H

namespace gc::opt {

/// Whether `--help` or `-h` is among the arguments.
bool asksForHelp(int argc, char **argv);

/// Prints examples, our passes with their options and defaults, and the few flags of MLIR's driver
/// that people need. LLVM's own help would list them among a thousand lines of others; it is what
/// `--help-hidden` still prints. Our passes must be registered.
void printHelp();

} // namespace gc::opt

#endif
