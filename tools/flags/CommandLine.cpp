#include "tools/flags/CommandLine.h"

#include <CLI/CLI.hpp>

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

bool parseCommandLine(CLI::App &app, int argc, char **argv, int &exitCode) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success &printed) { // --help, --version
    exitCode = app.exit(printed);
  } catch (const CLI::ParseError &error) {
    const std::string &tool = app.get_name();
    std::fprintf(stderr, "%s: %s\nsee %s --help\n", tool.c_str(), error.what(), tool.c_str());
    exitCode = 2;
  }
  return false;
}

int failWith(const std::string &tool, const gc::runtime::Error &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", tool.c_str(), error.message.c_str());
  return error.exitCode();
}
