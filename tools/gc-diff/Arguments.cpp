#include "tools/gc-diff/Arguments.h"

#include "tools/flags/CommandLine.h"

#include <CLI/CLI.hpp>

static const char *const examples = R"(
Examples:
  gc-compile resnet50.mlir -o whole.plan
  gc-compile resnet50.mlir --budget=600MB -o 600.plan
  gc-diff whole.plan 600.plan                   what the budget changed, and what it costs
  gc-diff whole.plan 600.plan --html=diff.html  the same as a page, with the memory of both
  gc-diff cpu.plan cuda.plan --report=diff.json --all

Values are told apart by the names of their ops; what has no counterpart in the other plan (another
model, parts of the batch, another device) is listed apart.
Exit codes: 0 done, whether the plans differ or not, 1 writing failed, 2 bad usage or no plan; 130,
143, 129 ended by Ctrl-C, SIGTERM, SIGHUP, 141 the reader of a pipe has gone.
)";

bool parseArguments(int argc, char **argv, Arguments &a, int &exitCode) {
  CLI::App app(
      "gc-diff A.plan B.plan: two plans side by side: settings, memory, time, what is kept "
      "in one and recomputed in the other",
      "gc-diff");
  app.set_version_flag("--version", "gc-diff " GC_VERSION);
  app.footer(examples);
  app.add_option("A", a.a, "A plan, of gc-compile")->required();
  app.add_option("B", a.b, "Another one")->required();
  app.add_option("--report", a.report, "Everything as JSON");
  app.add_option("--html", a.html, "A page, with the memory of both over a step");
  app.add_flag("--all", a.all, "List everything instead of the largest 20 of each list");
  return parseCommandLine(app, argc, argv, exitCode);
}
