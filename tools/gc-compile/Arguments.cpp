#include "tools/gc-compile/Arguments.h"

#include "tools/flags/CommandLine.h"
#include "tools/flags/CompileFlags.h"

#include <CLI/CLI.hpp>

using gc::runtime::badInput;
using gc::runtime::Result;

static const char *const examples = R"(
Examples:
  gc-gen resnet --depth=50 | gc-compile - --optimizer=adam
  gc-compile mnist.mlir -o mnist.plan --optimizer=adam --evaluate --report=mnist.json
  gc-run mnist.plan --data=fashion-mnist --epochs=2 --evaluate
  gc-compile convnet.mlir --dump-kernels=kernels

A plan holds code for the CPU that compiled it. Compiling needs neither data nor device.
Exit codes: 0 done, 1 writing failed, 2 bad usage or input, 3 the budget cannot be met, 4 no such
device.
)";

namespace {

/// Flags of the interface that have nothing behind them yet.
struct Later {
  bool explain = false;
  long pareto = 0;
};

void addFlags(CLI::App &app, Arguments &a, Later &later) {
  gc::CompileOptions &c = a.compile;
  app.add_option("MODEL", a.model, "gc IR, or - for standard input")->required();
  app.add_option("-o,--output", a.output, "The plan; without it the plan is only reported on");
  const char *group = "What the plan can do";
  app.add_flag("--evaluate", c.evaluate, "Also the model in inference mode, for gc-run --evaluate")
      ->group(group);
  app.add_flag("--keep-gradients", c.keepGradients,
               "Keep gradients to the end of the step, for gc-run --dump-gradients")
      ->group(group);
  group = "Device";
  app.add_option("--device", c.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", c.threads, "Threads that will run the plan (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  group = "Reports";
  app.add_option("--report", a.report, "Everything as JSON")->group(group);
  app.add_option("--html", a.html,
                 "A page with the memory of the step over its ops, before and after recomputation, "
                 "and the tensors alive at the peaks")
      ->group(group);
  app.add_option("--dump-kernels", c.dumpKernels,
                 "Directory for the generated code: MLIR, LLVM IR, assembly, shared object")
      ->group(group);
  app.add_flag("--explain", later.explain, "What is recomputed and why (not available yet)")
      ->group(group);
  app.add_option("--pareto", later.pareto, "Peak against time at N budgets (not available yet)")
      ->group(group);
  app.add_flag("--check", c.check,
               "Replay the finished plan: no live buffers overlap, every read sees its value")
      ->group(group);
}

Result<void> checkLater(const CLI::App &app, const Later &later) {
  if (later.explain)
    return badInput("--explain comes with rematerialization; not available yet");
  if (app.count("--pareto"))
    return badInput("--pareto comes with memory budgets; not available yet");
  return {};
}

} // namespace

bool parseArguments(int argc, char **argv, Arguments &a, int &exitCode) {
  CLI::App app("gc-compile MODEL.mlir -o PLAN: a training step as one file that gc-run executes",
               "gc-compile");
  app.set_version_flag("--version", "gc-compile " GC_VERSION);
  app.footer(examples);
  Later later;
  addFlags(app, a, later);
  CompileFlags compileFlags(a.compile);
  compileFlags.add(app);
  if (!parseCommandLine(app, argc, argv, exitCode))
    return false;
  Result<void> fine = checkLater(app, later);
  if (fine)
    fine = compileFlags.finish();
  if (!fine)
    exitCode = failWith("gc-compile", fine.error());
  return fine.ok();
}
