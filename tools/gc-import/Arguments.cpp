// The command line of gc-import.
#include "tools/gc-import/Arguments.h"

#include "tools/flags/CommandLine.h"

#include <CLI/CLI.hpp>

namespace gc::importer {

static const char *const examples = R"(
In Python, with PyTorch 2.9 or newer (tools/import/export.py does this and makes a check):
  program = torch.export.export(model.train(), (images,), strict=False)
  torch.export.save(program, "model.pt2")

Examples:
  gc-import model.pt2 --list                                 the ops, and what is not supported
  gc-import model.pt2 -o model.mlir --weights=w.safetensors
  gc-run model.mlir --load=w.safetensors --data=cifar10:DIR --epochs=1 --save=trained.safetensors
  gc-import model.pt2 --trained=trained.safetensors --weights=state.safetensors

Nothing in the archive is executed, and nothing is unpickled.
Exit codes: 0 done, 1 writing failed, 2 bad usage or input, also a model with ops that gc does not
have; 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP, 141 the reader of a pipe has gone.
)";

bool parseArguments(int argc, char **argv, Arguments &a, int &exitCode) {
  CLI::App app("MODEL.pt2: a PyTorch model that torch.export.save wrote, as gc IR with its names "
               "and weights",
               "gc-import");
  app.set_version_flag("--version", "gc-import " GC_VERSION);
  app.footer(examples);
  app.add_option("MODEL.pt2", a.archive, "An archive of torch.export.save")->required();
  app.add_option("-o,--output", a.output, "Write the IR to this file instead of standard output");
  app.add_option("--weights", a.weights,
                 "Also write its weights and statistics, for gc-run --load (safetensors)");
  app.add_option("--loss", a.loss,
                 "What is computed of the model's output: cross-entropy with labels, or none where "
                 "the model returns its loss (which is found without this flag)")
      ->transform(choice({"cross-entropy", "none"}));
  app.add_option("--batch", a.batch, "Samples in a step, instead of the exported example's")
      ->check(CLI::Range(1L, 1L << 24));
  app.add_option(
         "--classes", a.classes,
         "Outputs of the linear layer that the model ends with, whose weights start anew: to "
         "train a known network on other classes")
      ->check(CLI::Range(1L, 1L << 24));
  CLI::Option *trained = app.add_option(
      "--trained", a.trained,
      "What gc-run --save has written: with --weights, nothing is imported, and the whole "
      "state_dict() is written with these tensors in it, for load_state_dict(strict=True)");
  CLI::Option *list =
      app.add_flag("--list", a.list, "Only list the ops: how often, supported or not");
  for (const char *flag : {"--output", "--weights", "--batch"})
    app.get_option(flag)->excludes(list);
  trained->needs("--weights");
  for (const char *flag : {"--output", "--batch", "--classes", "--loss", "--list"})
    app.get_option(flag)->excludes(trained);
  bool noLocations = false;
  app.add_flag("--no-locations", noLocations,
               "Leave out loc(...), by which reports name the layer of an op");
  bool parsed = parseCommandLine(app, argc, argv, exitCode);
  a.locations = !noLocations;
  return parsed;
}

} // namespace gc::importer
