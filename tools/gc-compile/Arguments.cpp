#include "tools/gc-compile/Arguments.h"

#include "runtime/process/AtomicFile.h"
#include "runtime/report/Sizes.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/CompileFlags.h"
#include "tools/flags/Configuration.h"
#include "tools/flags/CudaModel.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-compile/WhatIf.h"

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
  gc-gen resnet --depth=101 | gc-compile - --max-batch --budget=12GB
  gc-gen resnet --depth=101 | gc-compile - --max-batch --device=cuda --target="RTX 3060"
  gc-compile vit.mlir --what-if="batch=8,16,32 budget=none,1GB optimizer=sgd,adam" --csv=vit.csv

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
  app.add_flag("--mix-labels", c.mixLabels,
               "A loss of two labels for each sample, for gc-run --augment=mixup and cutmix")
      ->group(group);
  app.add_flag("--keep-gradients", c.keepGradients,
               "Keep gradients to the end of the step, for gc-run --dump-gradients")
      ->group(group);
  group = "Device";
  app.add_option("--device", c.device, "cpu or cuda")
      ->check(choice({"cpu", "cuda"}))
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
                 "feasible, as a table; with --remat a last row of that policy; no plan is made")
      ->check(CLI::Range(1, 1000))
      ->group(group);
  app.add_option("--csv", a.csv, "The table of --pareto or --what-if as a file")->group(group);
  app.add_option("--plot", a.plot, "The table of --pareto as a picture (SVG)")->group(group);
  app.add_flag("--check", c.check,
               "Replay the finished plan: no live buffers overlap, every read sees its value")
      ->group(group);
}

void addQuestions(CLI::App &app, Arguments &a, std::string &reserve) {
  const char *group = "Questions, answered in place of a plan";
  app.add_flag("--max-batch", a.maxBatch,
               "The largest batch that fits --budget, or the memory of the card that --target "
               "names: alone, with recomputation, and with micro-batches")
      ->group(group);
  app.add_option(
         "--reserve", reserve,
         "--max-batch: bytes that are not for the plan, such as those of driver and context "
         "(default: 1GiB of a card's memory, nothing of a --budget)")
      ->group(group);
  app.add_option("--what-if", a.whatIf,
                 "A table of the step for all combinations of KEY=VALUE,VALUE...: batch, budget, "
                 "optimizer, target, accumulate, remat, precision")
      ->group(group);
}

Status checkPareto(const CLI::App &app, const Arguments &a) {
  if (!a.compile.pareto) {
    if (app.count("--csv") && a.whatIf.empty())
      return badInput("--csv goes with --pareto=N or --what-if");
    if (app.count("--plot"))
      return badInput("--plot goes with --pareto=N");
    return {};
  }
  for (const char *flag : {"--output", "--report", "--html", "--budget", "--explain", "--check",
                           "--kernels", "--dump-kernels"})
    if (app.count(flag))
      return badInput(std::string("--pareto and ") + flag +
                      " exclude each other: a table of budgets is made instead of a plan");
  return {};
}

Status refuseBeside(const CLI::App &app, const char *question,
                    std::initializer_list<const char *> flags) {
  for (const char *flag : flags)
    if (app.count(flag))
      return badInput(std::string(question) + " and " + flag +
                      " exclude each other: a question is answered instead of a plan being made");
  return {};
}

Status checkMaxBatch(const CLI::App &app, Arguments &a, const std::string &reserve) {
  if (!a.maxBatch)
    return app.count("--reserve") ? badInput("--reserve goes with --max-batch") : Status();
  if (Status fine = refuseBeside(app, "--max-batch",
                                 {"--what-if", "--pareto", "--output", "--html", "--remat",
                                  "--explain", "--check", "--kernels", "--dump-kernels"});
      !fine)
    return fine;
  if (a.compile.accumulateAuto)
    return badInput(
        "--accumulate=auto has no effect with --max-batch, which looks at micro-batches "
        "anyway; --accumulate=K says how many, also where they change the result");
  if (a.compile.split.parts > 1)
    return badInput("--max-batch and --split=N exclude each other: a batch that is looked for need "
                    "not have N equal parts; there are --split=auto and off");
  if (reserve.empty())
    return {};
  gc::runtime::Result<uint64_t> bytes = gc::runtime::parseSize(reserve);
  if (!bytes)
    return badInput("--reserve: " + bytes.error().message);
  a.reserve = *bytes;
  return {};
}

// What the question varies is not said a second time.
Status checkWhatIf(const CLI::App &app, Arguments &a) {
  if (!app.count("--what-if"))
    return {};
  if (Status fine = refuseBeside(app, "--what-if",
                                 {"--pareto", "--output", "--html", "--explain", "--check",
                                  "--kernels", "--dump-kernels"});
      !fine)
    return fine;
  gc::runtime::Result<std::vector<WhatIfKey>> keys = readWhatIf(a.whatIf);
  if (!keys)
    return keys.error();
  for (const WhatIfKey &key : *keys) {
    const CLI::Option *flag = app.get_option_no_throw("--" + key.name);
    if (flag && flag->count())
      return badInput("--" + key.name + " and " + key.name +
                      " in --what-if exclude each other: give all values in one of them");
    // Its settings are checked for each row; here for the first.
    if (key.name == "optimizer")
      a.compile.optimizer.name = key.values.front();
    if (key.name == "target")
      a.compile.target = key.values.front();
  }
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
  std::string reserve;
  addQuestions(app, a, reserve);
  CompileFlags compileFlags(a.compile);
  compileFlags.add(app);
  addConfigFlag(app);
  app.get_option("--targets")->configurable(false);
  if (!parseCommandLine(app, argc, argv, exitCode))
    return false;
  a.origin.version = GC_VERSION;
  a.origin.commandLine = commandLineText(argc, argv);
  a.origin.configuration = effectiveConfiguration(app, a.origin.commandLine).json;
  Status fine = checkPareto(app, a);
  if (fine && a.kernels && a.compile.device != "cuda")
    fine = badInput("--kernels goes with --device=cuda: it is a table of a GPU's resources");
  if (fine)
    fine = checkWhatIf(app, a);
  if (fine)
    fine = compileFlags.finish();
  if (fine)
    fine = checkMaxBatch(app, a, reserve);
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

Status writeIfAsked(const std::string &path, const std::string &text) {
  return path.empty() ? Status() : gc::runtime::writeFileAtomically(path, text);
}
