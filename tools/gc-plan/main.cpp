// gc-plan: looks into plans. What is told is made in runtime/trainer/PlanText.cpp.
#include "runtime/plan/PlanFile.h"
#include "runtime/process/Nearest.h"
#include "runtime/process/StandardStreams.h"
#include "runtime/report/Sizes.h"
#include "runtime/trainer/PlanText.h"
#include "tools/flags/CommandLine.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace gc::runtime;

static const char *const examples = R"(
Examples:
  gc-plan show resnet50.plan
  gc-plan show resnet50.plan --variables
  gc-plan show resnet50.plan --json | jq '.memory'

It needs neither the device nor the machine that the plan is for.
Exit codes: 0 done, 1 writing failed, 2 bad usage or input; 130, 143, 129 ended by Ctrl-C, SIGTERM,
SIGHUP, 141 the reader of a pipe has gone.
)";

struct Wishes {
  std::string plan;
  bool variables = false, commands = false, buffers = false, json = false;
};

static Status show(const Wishes &wishes) {
  std::error_code ignored;
  Result<PlanFile> file = PlanFile::load(wishes.plan);
  if (!file && !std::filesystem::exists(wishes.plan, ignored))
    return badInput(file.error().message + didYouMean(nearestFile(wishes.plan)));
  if (!file)
    return file.error();
  const gc::plan::Plan &plan = file->get();
  std::string text;
  if (wishes.json) {
    nlohmann::ordered_json json = planJson(plan);
    json["plan_bytes"] = file->sizeBytes();
    text = json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  } else {
    text = peakText(plan) + contentText(plan) + labelled("file", sizeText(file->sizeBytes()));
    if (wishes.variables)
      text += "\n" + variableTable(plan);
    if (wishes.commands)
      text += "\n" + commandTable(plan);
    if (wishes.buffers)
      text += "\n" + bufferTable(plan);
  }
  std::fputs(text.c_str(), stdout);
  return {};
}

static int run(int argc, char **argv) {
  CLI::App app("looks into plans, which gc-compile writes", "gc-plan");
  app.set_version_flag("--version", "gc-plan " GC_VERSION);
  app.footer(examples);
  app.fallthrough(); // --completion and --man may follow the command
  Wishes wishes;
  CLI::App *command = app.add_subcommand(
      "show", "what a plan holds: memory at the peak, optimizer, inputs, variables, commands");
  app.require_subcommand(1);
  command->add_option("PLAN", wishes.plan, "A plan that gc-compile has written")->required();
  command->add_flag("--variables", wishes.variables, "Also a table of weights and state");
  command->add_flag("--commands", wishes.commands, "Also a table of what a step does, in order");
  command->add_flag("--buffers", wishes.buffers,
                    "Also a table of the arena's ranges and their lives");
  command->add_flag("--json", wishes.json, "All of it as JSON instead");
  int exitCode = gc::exits::Done;
  if (!parseCommandLine(app, argc, argv, exitCode))
    return exitCode;
  for (const char *flag : {"--variables", "--commands", "--buffers"})
    if (wishes.json && command->count(flag))
      return failWith("gc-plan", badInput(std::string(flag) + " has no effect with --json, which "
                                                              "has everything"));
  Status done = show(wishes);
  return done ? gc::exits::Done : failWith("gc-plan", done.error());
}

int main(int argc, char **argv) {
  prepareProcess();
  return finishStandardOutput("gc-plan", run(argc, argv), PrintedText::IsTheResult);
}
