//===- Arguments.h - the command line of gc-gen -----------------*- C++ -*-===//
#ifndef GC_TOOLS_GC_GEN_ARGUMENTS_H
#define GC_TOOLS_GC_GEN_ARGUMENTS_H

#include "models/NetworkOptions.h"
#include <optional>
#include <string>

namespace gc::gen {

struct Arguments {
  models::NetworkOptions network;
  std::string command;   // the command line that makes the same file, every option written out
  std::string output;    // empty: standard output
  bool locations = true; // print the layer of each op
};

/// Parses, answering --help and --version. Without a value the program is to end with `exitCode`
/// (0 for answered, 2 for bad usage, whose reason has been printed).
std::optional<Arguments> parseArguments(int argc, char **argv, int &exitCode);

} // namespace gc::gen

#endif
