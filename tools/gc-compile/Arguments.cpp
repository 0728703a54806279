#include "tools/gc-compile/Arguments.h"

#include "tools/flags/CommandLine.h"
#include "tools/flags/CompileFlags.h"
#include "tools/flags/CudaModel.h"
#include "tools/flags/ModelFile.h"

#include <CLI/CLI.hpp>

using gc::runtime::badInput;
using gc::runtime::Status;

static const char *const examples = R"(
Examples:
  gc-gen resnet --depth=50 | gc-compile - --optimizer=adam
  gc-compile mnist.mlir -o mnist.plan --optimizer=adam --evaluate --report=mnist.json
  gc-run mnist.plan --data=fashion-mnist --epochs=2 --evaluate
  gc-compile convnet.mlir --dump-kernels=kernels
  gc-compile resnet50.mlir --budget=600MB --explain
  gc-compile vit.mlir --budget=400MB --accumulate=auto -o vit.plan
  gc-gen resnet --depth=152 --batch=64 | gc-compile - --device=cuda --target=sm_86 --budget=8GB
  gc-compile resnet50.mlir --pareto=20 --csv=resnet50.csv --plot=resnet50.svg

A plan for the CPU holds code for the CPU that compiled it; one for CUDA holds code for --target and
newer devices; without --target it is compiled for the GPU that is there. Otherwise compiling needs
neither data nor device.
Exit codes: 0 done, 1 writing failed, 2 bad usage or input, 3 the budget cannot be met, 4 no such
device; 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP, 141 the reader of a pipe has gone.
)";

namespace {

void addFlags(CLI::App &app, Arguments &a) {
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
  app.add_option(
         "--html", a.html,
         "A page with the memory of the step before and after recomputation, and every buffer "
         "at its address over time")
      ->group(group);
  app.add_option(
         "--dump-kernels", c.dumpKernels,
         "Directory for the generated code: MLIR, LLVM IR, and assembly and shared object, or PTX "
         "and cubins")
      ->group(group);
  app.add_flag(
         "--explain", c.explain,
         "What is recomputed and why: bytes not kept, seconds paid, what is alive at the peak")
      ->group(group);
  app.add_flag(
         "--kernels", a.kernels,
         "cuda: a table of the generated kernels: registers, spills, shared memory, occupancy, "
         "predicted time")
      ->group(group);
  app.add_option("--pareto", c.pareto,
                 "Peak against predicted time at N budgets, from no recomputation to the smallest "
                 "feasible, as a table; no plan is made")
      ->check(CLI::Range(1, 1000))
      ->group(group);
  app.add_option("--csv", a.csv, "The table of --pareto as a file")->group(group);
  app.add_option("--plot", a.plot, "The table of --pareto as a picture (SVG)")->group(group);
  app.add_flag("--check", c.check,
               "Replay the finished plan: no live buffers overlap, every read sees its value")
      ->group(group);
}

Status checkPareto(const CLI::App &app, const Arguments &a) {
  if (!a.compile.pareto) {
    for (const char *flag : {"--csv", "--plot"})
      if (app.count(flag))
        return badInput(std::string(flag) + " goes with --pareto=N");
    return {};
  }
  for (const char *flag : {"--output", "--report", "--html", "--budget", "--remat", "--explain",
                           "--check", "--kernels", "--dump-kernels"})
    if (app.count(flag))
      return badInput(std::string("--pareto and ") + flag +
                      " exclude each other: a table of budgets is made instead of a plan");
  return {};
}

} // namespace

bool parseArguments(int argc, char **argv, Arguments &a, int &exitCode) {
  CLI::App app("gc-compile MODEL.mlir -o PLAN: a training step as one file that gc-run executes",
               "gc-compile");
  app.set_version_flag("--version", "gc-compile " GC_VERSION);
  app.footer(examples);
  app.add_flag_callback(
         "--targets", [] { throw CLI::CallForVersion(targetsText(), 0); },
         "The GPUs that --target knows, and end")
      ->trigger_on_parse()
      ->group("Device");
  addFlags(app, a);
  CompileFlags compileFlags(a.compile);
  compileFlags.add(app);
  if (!parseCommandLine(app, argc, argv, exitCode))
    return false;
  Status fine = checkPareto(app, a);
  if (fine && a.kernels && a.compile.device != "cuda")
    fine = badInput("--kernels goes with --device=cuda: it is a table of a GPU's resources");
  if (fine)
    fine = compileFlags.finish();
  a.noCalibrate = compileFlags.noCalibrate();
  if (!fine)
    exitCode = failWith("gc-compile", fine.error());
  return fine.ok();
}

Status checkFiles(const Arguments &a) {
  using gc::runtime::NamedPath;
  return gc::runtime::checkOutputs(
      {{"-o", a.output},
       {"--report", a.report},
       {"--html", a.html},
       {"--csv", a.csv},
       {"--plot", a.plot},
       {"--dump-kernels", a.compile.dumpKernels, NamedPath::Kind::Directory, {"kernels.mlir"}}},
      {modelInput(a.model), {"--costs", a.compile.costs}});
}
