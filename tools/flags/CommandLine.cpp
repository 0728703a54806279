#include "tools/flags/CommandLine.h"

#include "runtime/process/Nearest.h"
#include "runtime/process/StandardStreams.h"
#include "tools/flags/ManualPage.h"
#include "tools/flags/ShellCompletion.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

using gc::runtime::didYouMean;
using gc::runtime::nearestFile;
using gc::runtime::nearestName;

CLI::Validator choice(std::vector<std::string> words) {
  std::string all = "{" + CLI::detail::join(words) + "}";
  return CLI::Validator(
      [words = std::move(words), all](std::string &text) {
        if (std::find(words.begin(), words.end(), text) != words.end())
          return std::string();
        return text + " not in " + all + didYouMean(nearestName(text, words));
      },
      all);
}

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

void addPrintedTexts(CLI::App &app) {
  const char *group = "Terminal";
  app.add_option_function<std::string>(
         "--completion",
         [&app](const std::string &shell) {
           throw CLI::CallForVersion(completionScript(tableOf(app), shell), 0);
         },
         "Print what completes this command in a shell, and end (bash: source <(" + app.get_name() +
             " --completion=bash))")
      ->check(choice({"bash", "zsh", "fish"}))
      ->trigger_on_parse()
      ->configurable(false)
      ->group(group);
  app.add_flag_callback(
         "--man", [&app] { throw CLI::CallForVersion(manualPage(tableOf(app), GC_VERSION), 0); },
         "Print the manual page, and end (" + app.get_name() + " --man | man -l -)")
      ->trigger_on_parse()
      ->configurable(false)
      ->group(group);
}

static void addNames(std::vector<std::string> &names, const CLI::App &app) {
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
}

std::string nearestFlag(const CLI::App &app) {
  std::vector<std::string> names;
  addNames(names, app);
  for (const CLI::App *command : app.get_subcommands())
    addNames(names, *command);
  for (const std::string &word : app.remaining(/*recurse=*/true))
    if (word.starts_with("-"))
      return nearestName(word.substr(0, word.find('=')), names);
  return "";
}

static std::string reasonOf(const CLI::App &app, const CLI::ParseError &error) {
  if (dynamic_cast<const CLI::ExtrasError *>(&error))
    return error.what() + didYouMean(nearestFlag(app));
  if (dynamic_cast<const CLI::FileError *>(&error)) {
    std::string file = app.get_config_ptr()->as<std::string>();
    return "--config=" + file + ": there is no such file" + didYouMean(nearestFile(file));
  }
  return error.what();
}

bool parseCommandLine(CLI::App &app, int argc, char **argv, int &exitCode) {
  const std::string &tool = app.get_name();
  addPrintedTexts(app);
  try {
    refuseEmptyValues(argc, argv);
    app.parse(argc, argv);
    refuseEmptyResults(app);
    return true;
  } catch (const CLI::Success &printed) { // --help, --version
    exitCode = gc::runtime::finishStandardOutput(tool.c_str(), app.exit(printed),
                                                 gc::runtime::PrintedText::IsTheResult);
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "%s: %s\nsee %s --help\n", tool.c_str(), reasonOf(app, error).c_str(),
                 tool.c_str());
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
