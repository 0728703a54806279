#include "tools/gc-run/LoadModel.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

using namespace gc::runtime;

static Result<std::string> readModel(const std::string &path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return badInput(fmt::format("'{}' is a directory; expected gc IR or a plan", path));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return badInput(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  if (file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (file.bad() || text.bad())
    return badInput(fmt::format("reading '{}' failed", path));
  return text.str();
}

static std::string optimizerText(const gc::CompileOptions &c) {
  std::string text = fmt::format("{} lr {}", c.optimizer, c.lr);
  if (c.momentum != 0)
    text += fmt::format(" momentum {}{}", c.momentum, c.nesterov ? " (nesterov)" : "");
  if (c.weightDecay != 0)
    text += fmt::format(" weight decay {}", c.weightDecay);
  return text;
}

/// `resnet` for `dir/resnet.mlir`.
static std::string modelName(const std::string &path) {
  return path == "-" ? "standard input" : std::filesystem::path(path).stem().string();
}

Result<PlanFile> loadModel(Arguments &a) {
  Result<std::string> text = readModel(a.model);
  if (!text)
    return text.error();
  if (text->empty())
    return badInput(fmt::format("'{}' is empty; expected gc IR or a plan", a.model));
  // FlatBuffers puts its file identifier behind the root's offset.
  if (text->size() >= 8 && text->compare(4, 4, "GCPL") == 0) {
    if (a.compileFlagGiven)
      return badInput(
          fmt::format("{} is decided when a plan is compiled; give it to gc-compile, or "
                      "give gc-run the model instead of the plan",
                      a.compileFlag));
    return PlanFile::fromMemory(std::as_bytes(std::span(*text)), a.model);
  }
  auto begin = std::chrono::steady_clock::now();
  gc::CompileResult compiled = gc::compileModel(*text, modelName(a.model), a.compile);
  a.train.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (compiled.exitCode != 0 || compiled.plan.empty()) {
    Error error = badInput(compiled.error.empty() ? "the compiler gave neither plan nor reason"
                                                  : compiled.error);
    error.kind = static_cast<ErrorClass>(compiled.exitCode ? compiled.exitCode : 1);
    return error;
  }
  a.train.optimizer = optimizerText(a.compile);
  return PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)), a.model);
}
