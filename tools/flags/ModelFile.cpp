#include "tools/flags/ModelFile.h"

#include "runtime/plan/PlanSeal.h"
#include "runtime/process/Nearest.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace gc::runtime;

std::string displayName(const std::string &path) { return path == "-" ? "<stdin>" : path; }

NamedPath modelInput(const std::string &path) {
  return {"the model", path == "-" ? "/dev/stdin" : path};
}

static Result<std::string> readAll(const std::string &path) {
  std::ostringstream text;
  if (path == "-") {
    if (std::cin.peek() != std::istream::traits_type::eof())
      text << std::cin.rdbuf();
    return text.str();
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return badInput(fmt::format("'{}' is a directory; expected gc IR or a plan", path));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return badInput(fmt::format("cannot open '{}': {}{}", path, std::strerror(errno),
                                didYouMean(nearestFile(path))));
  if (file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (file.bad() || text.bad())
    return badInput(fmt::format("reading '{}' failed", path));
  return text.str();
}

Result<std::string> readModelFile(const std::string &path) {
  Result<std::string> text = readAll(path);
  if (text && text->empty())
    return badInput(fmt::format("'{}' is empty; expected gc IR or a plan", displayName(path)));
  return text;
}

bool isPlan(const std::string &bytes) { return looksLikePlan(std::as_bytes(std::span(bytes))); }

Result<CompiledModel> compileText(const std::string &text, const std::string &path,
                                  const gc::CompileOptions &options, bool showWarnings) {
  CompiledModel model;
  auto begin = std::chrono::steady_clock::now();
  model.result = gc::compileModel(text, displayName(path), options);
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const gc::CompileResult &result = model.result;
  if (result.exitCode == gc::exits::Done && (options.pareto || !result.plan.empty())) {
    if (showWarnings && !result.warnings.empty())
      fmt::print(stderr, "{}\n", result.warnings);
    return model;
  }
  if (result.exitCode == gc::exits::Done)
    return runFailed("the compiler gave neither plan nor reason; please report this");
  return Error{static_cast<ErrorClass>(result.exitCode), result.error};
}
