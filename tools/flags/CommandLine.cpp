#include "tools/flags/CommandLine.h"

#include "runtime/process/StandardStreams.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

CLI::Validator countValidator() {
  return CLI::Validator(
      [](std::string &text) {
        bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return digits && text.size() <= 15 ? std::string()
                                           : "'" + text + "' is not a number from 0 on";
      },
      "COUNT");
}

/// CLI11 takes what comes next for the value of `--save=`.
static void refuseEmptyValues(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      throw CLI::ValidationError(argument, "a value is missing");
  }
}

static void refuseEmptyResults(const CLI::App &app) {
  for (const CLI::Option *option : app.get_options())
    for (const std::string &value : option->results())
      if (value.empty())
        throw CLI::ValidationError(option->get_name(), "a value is missing");
}

bool parseCommandLine(CLI::App &app, int argc, char **argv, int &exitCode) {
  const std::string &tool = app.get_name();
  try {
    refuseEmptyValues(argc, argv);
    app.parse(argc, argv);
    refuseEmptyResults(app);
    return true;
  } catch (const CLI::Success &printed) { // --help, --version
    exitCode = gc::runtime::finishStandardOutput(tool.c_str(), app.exit(printed),
                                                 gc::runtime::PrintedText::IsTheResult);
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "%s: %s\nsee %s --help\n", tool.c_str(), error.what(), tool.c_str());
    exitCode = gc::exits::BadInput;
  }
  return false;
}

std::string firstGivenOutside(const CLI::App &app, const std::vector<std::string> &allowed) {
  for (const CLI::Option *option : app.get_options())
    if (option->count() &&
        std::find(allowed.begin(), allowed.end(), option->get_name()) == allowed.end())
      return option->get_name();
  return "";
}

int failWith(const std::string &tool, const gc::runtime::Error &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", tool.c_str(), error.message.c_str());
  return error.exitCode();
}
