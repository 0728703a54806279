#include "tools/gc-run/Arguments.h"

#include "runtime/data/Augmentation.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/CompileFlags.h"
#include "tools/flags/Configuration.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-run/ValidationFlags.h"
#include "tools/selftest/CudaSelfTest.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using gc::runtime::badInput;
using gc::runtime::Result;
using gc::runtime::Status;

static const char *const examples = R"(
Examples:
  gc-gen mnist | gc-run - --data=fashion-mnist --epochs=2 --optimizer=adam --evaluate
  gc-run resnet.mlir --data=synthetic --steps=20 --report=run.json
  gc-run net.plan --data=batch.safetensors --load=start.safetensors --save=end.safetensors
  gc-run mnist.mlir --data=fashion-mnist --epochs=9 --checkpoint=run --resume=run
  gc-run mnist.mlir --data=fashion-mnist --epochs=50 --validation=0.1 --early-stop=3 --checkpoint=run
  gc-run mnist.mlir --data=fashion-mnist --evaluate-only --resume=run:best --predict=answers.csv
  gc-run resnet.mlir --data=images:photos --load=resnet18.safetensors --load-partial --save=mine.safetensors
  gc-run resnet.mlir --data=images:photos --normalize=imagenet --augment=random-resized-crop,flip --shuffle
  gc-run resnet.mlir --budget=600MB --verify
  gc-run resnet.mlir --load=w.safetensors --reference=check.safetensors
  gc-run resnet.mlir --data=synthetic --steps=9 --profile=costs.json
  gc-run resnet.mlir --data=synthetic --budget=1GB --costs=costs.json
  gc-run resnet.mlir --config=recipe.toml --lr=0.05
  gc-run --calibrate=machine.json
  gc-run --selftest --device=cuda

Exit codes: 0 done, 1 the run failed, 2 bad usage or input, 3 the budget cannot be met, 4 device or
driver missing or failing; 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP (after the current step, with
what was asked for saved; a second one ends at once), 141 the reader of a pipe has gone (likewise).
With one directory for --checkpoint and --resume a first run starts from the beginning.
)";

namespace {

using gc::runtime::ProgressMode;

/// What needs a second look after CLI11 has read the strings.
struct Raw {
  std::string progress = "auto";
  bool quiet = false;
  CLI::Option *epochs = nullptr, *steps = nullptr, *limit = nullptr, *seed = nullptr;
  uint64_t epochCount = 1, stepCount = 0, limitCount = 0;
};

void addDataFlags(CLI::App &app, Arguments &a, Raw &raw) {
  auto &schedule = a.train.schedule;
  const char *group = "Data and length";
  app.add_option("--data", a.train.data,
                 "synthetic, fashion-mnist, mnist:DIR, cifar10:DIR, images:DIR (JPEG and PNG, "
                 "DIR/CLASS/... or DIR/train/CLASS/... with DIR/val or DIR/test), cifar100:DIR, "
                 "tar:SHARDS.tar (as WebDataset writes them, {000..009} is a range), "
                 "npy:IMAGES.npy,LABELS.npy, tokens:FILE[:u16|u32|i32|i64] (tokens alone, whose "
                 "labels are the next ones) or FILE.safetensors (tensors image, N x C x H x W f32 "
                 "or tokens, and label, N i64, or several a sample, of which those below 0 do not "
                 "count). Named sets are looked for "
                 "below $GC_DATASETS, else where Debian's packages put them")
      ->capture_default_str()
      ->group(group);
  app.add_option("--test-data", a.train.testData,
                 "What --evaluate uses, named as --data is (its test split, or all of it where it "
                 "has none), in place of the test split of --data")
      ->group(group);
  app.add_option("--normalize", a.train.normalize,
                 "Of images of bytes, (byte / 255 - MEAN) / DEVIATION: half (default: 0.5:0.5), "
                 "imagenet, none, or MEAN:DEVIATION with one value or one for each channel, "
                 "separated by commas")
      ->group(group);
  app.add_option("--augment", a.train.augment,
                 "Random changes to training images of bytes, separated by commas and applied in "
                 "this order: random-resized-crop[:LEAST-AREA], shift-crop:PIXELS, "
                 "flip[:PROBABILITY], rotate:DEGREES, "
                 "colour-jitter:BRIGHTNESS[:CONTRAST[:SATURATION]], erase[:PROBABILITY]. The same "
                 "with any --workers, drawn from --seed")
      ->group(group);
  app.add_option(
         "--on-bad-sample",
         [&schedule](const CLI::results_t &given) {
           schedule.skipBadSamples = given.front() == "skip";
           return true;
         },
         "An image that cannot be read: error ends the run and names it (default), skip "
         "leaves it out of batch and loss and counts it")
      ->check(CLI::IsMember({"error", "skip"}))
      ->type_name("TEXT")
      ->group(group);
  raw.epochs = app.add_option("--epochs", raw.epochCount,
                              "Epochs in all, also after --resume (default: 1; synthetic data: 20 "
                              "steps). What is left of an epoch after its last whole batch is "
                              "dropped; with --accumulate, after its last whole micro-batch")
                   ->check(countValidator())
                   ->group(group);
  raw.steps = app.add_option("--steps", raw.stepCount, "Steps in all, instead of epochs")
                  ->check(countValidator())
                  ->excludes(raw.epochs)
                  ->group(group);
  raw.limit = app.add_option("--limit", raw.limitCount, "Use only the first N training samples")
                  ->check(countValidator())
                  ->group(group);
  app.add_flag("--shuffle", schedule.shuffle, "A new order for each epoch")->group(group);
  raw.seed = app.add_option("--seed", schedule.seed,
                            "Of initial weights, order, dropout and synthetic data; --resume "
                            "keeps its own")
                 ->check(countValidator())
                 ->capture_default_str()
                 ->group(group);
  app.add_option("--workers", schedule.workers, "Loader threads; 0 loads between steps")
      ->check(CLI::Range(0, 256))
      ->capture_default_str()
      ->group(group);
}

/// Data of the step, so that a finished plan can follow it; --lr is beside the optimizer's
/// settings.
void addLearningRateFlags(CLI::App &app, Arguments &a) {
  gc::runtime::LearningRateOptions &rate = a.train.schedule.learningRate;
  const char *group = "Learning rate (counted in steps; docs/training.md)";
  app.add_option("--schedule", rate.schedule,
                 "constant, step:EVERY[:FACTOR], multi-step:A,B,...[:FACTOR], linear, "
                 "cosine[:FIRST[:TIMES]] (with restarts), one-cycle[:RISING[:START[:END]]]")
      ->capture_default_str()
      ->group(group);
  app.add_option("--warmup", rate.warmup,
                 "Steps in which the learning rate rises to --lr, before "
                 "the schedule begins")
      ->check(countValidator())
      ->group(group);
  app.add_option("--min-lr", rate.minimum,
                 "Where linear and cosine end (0), and what step and multi-step keep at least")
      ->group(group);
}

void addDeviceFlags(CLI::App &app, Arguments &a) {
  const char *group = "Device";
  app.add_option("--device", a.train.device, "cpu or cuda[:N] (default: cpu, or the plan's)")
      ->group(group);
  app.add_option("--threads", a.train.threads,
                 "Threads of the cpu device (default: the plan's, or all cores)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  app.add_option("--calibrate", a.calibrate,
                 "Measure what this machine does in a second and write it for --costs; takes about "
                 "half a minute and no model")
      ->group(group);
  app.add_flag(
         "--selftest", a.selftest,
         "Test the device, with a verdict: the conformance suite; cuda: also gradients and ops "
         "against the cpu device and cuDNN, memory and a short training, and a file to send back "
         "(--report, default gc-selftest-cuda.json)")
      ->group(group);
  app.add_flag("--selftest-quick", a.selftestQuick, "The same on fewer and smaller networks")
      ->group(group);
  app.add_option("--selftest-sections", a.selftestSections,
                 "Of the self-test of cuda only some, such as conformance,ops")
      ->delimiter(',')
      ->check(choice(cudaSelfTestSections()))
      ->group(group);
  app.add_option(
         "--selftest-only", a.selftestOnly,
         "Of the self-test of cuda only cases whose names begin so, such as matmul.,memory.")
      ->delimiter(',')
      ->group(group);
  app.add_option("--selftest-limit", a.selftestLimit,
                 "Seconds after which a case of the self-test of cuda is ended (default: 300)")
      ->check(CLI::Range(1, 86400))
      ->group(group);
}

void addFileFlags(CLI::App &app, Arguments &a) {
  gc::runtime::TrainOptions &t = a.train;
  const char *group = "Weights (safetensors, PyTorch's names and layouts)";
  app.add_option(
         "--load", t.load,
         "Start from these weights and running statistics; f16 and bf16 are widened; several "
         "files by their model.safetensors.index.json")
      ->group(group);
  app.add_flag("--load-partial", t.loadPartial,
               "Of --load take what fits by name and shape, say what was left out, and give the "
               "rest its initial values")
      ->group(group);
  app.add_option("--save", t.save, "Write weights and running statistics at the end")->group(group);
  app.add_option(
         "--save-as",
         [&t](const CLI::results_t &given) {
           t.saveAs = given.front() == "f16" ? "F16" : given.front() == "bf16" ? "BF16" : "F32";
           return true;
         },
         "Element type of --save, rounded to the nearest: f32 (default), bf16 or f16")
      ->check(choice({"f32", "bf16", "f16"}))
      ->type_name("TEXT")
      ->group(group);
  app.add_option("--dump-gradients", t.dumpGradients,
                 "Write the last step's gradients; keeps them alive, which the peak shows")
      ->group(group);
  app.add_option("--checkpoint", t.checkpoint,
                 "Directory for checkpoints: weights, optimizer state, step and generator after "
                 "each epoch and validation, written while training goes on")
      ->group(group);
  app.add_option("--checkpoint-every", t.schedule.checkpointEvery, "Also after so many steps")
      ->check(CLI::PositiveNumber & countValidator())
      ->type_name("UINT")
      ->group(group);
  app.add_option("--resume", t.resume,
                 "Go on from such a directory, with the same data, --limit, --shuffle and batch: "
                 "from the last checkpoint, DIR:best or DIR:STEP")
      ->excludes(app.get_option("--load"))
      ->group(group);
  group = "Reports";
  app.add_option("--report", t.report, "Everything as JSON")->group(group);
  app.add_option("--log-dir", t.logDir,
                 "Directory for TensorBoard's event files, metrics.csv and metrics.jsonl")
      ->group(group);
  app.add_option("--log-histograms", t.histogramsEvery,
                 "Also histograms of weights, and of gradients that are kept, after so many steps")
      ->check(CLI::PositiveNumber & countValidator())
      ->type_name("UINT")
      ->group(group);
  app.add_flag("--log-gradients", t.logGradients,
               "Histograms of gradients, too: keeps them to the end of the step, and the peak says "
               "so")
      ->group(group);
  app.add_option("--trace", t.trace, "The last step's commands for ui.perfetto.dev")->group(group);
  app.add_option("--html", t.html, "A page: curves of the run, memory of its step")->group(group);
  app.add_option("--profile", t.profile, "Measured seconds per op, for --costs")->group(group);
}

void addTerminalFlags(CLI::App &app, Raw &raw) {
  const char *group = "Terminal";
  app.add_option(
         "--progress", raw.progress,
         "auto (a bar on a terminal, else lines), bar, lines (one each ten seconds) or json "
         "(standard output is an object a line, for scripts; docs/terminal.md)")
      ->check(choice({"auto", "bar", "lines", "json"}))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--quiet", raw.quiet, "Print nothing but errors and warnings")->group(group);
}

/// What would train for more than a comparison has no place beside --verify.
Status checkVerify(const Arguments &a, const Raw &raw) {
  const gc::runtime::TrainOptions &t = a.train;
  std::pair<const char *, bool> others[] = {{"--epochs", raw.epochs->count() > 0},
                                            {"--validation", !t.validation.empty()},
                                            {"--evaluate-only", t.evaluateOnly},
                                            {"--evaluate", t.schedule.evaluate},
                                            {"--quiet", raw.quiet},
                                            {"--progress", raw.progress != "auto"},
                                            {"--save", !t.save.empty()},
                                            {"--dump-gradients", !t.dumpGradients.empty()},
                                            {"--checkpoint", !t.checkpoint.empty()},
                                            {"--resume", !t.resume.empty()},
                                            {"--log-dir", !t.logDir.empty()},
                                            {"--trace", !t.trace.empty()},
                                            {"--html", !t.html.empty()},
                                            {"--profile", !t.profile.empty()}};
  for (auto [flag, given] : others)
    if (given)
      return badInput(fmt::format("--verify and {} exclude each other: --verify runs --steps to "
                                  "compare them and keeps nothing",
                                  flag));
  if (raw.steps->count() && raw.stepCount == 0)
    return badInput("--verify --steps=0: there would be nothing to compare; use at least 1");
  return {};
}

/// A reference is one step: what tells of data, length and updates is in its file.
Status checkReference(const CLI::App &app, const Arguments &a) {
  if (std::string flag = firstGivenOutside(
          app, {"MODEL", "--reference", "--load", "--device", "--target", "--threads", "--budget",
                "--remat", "--split", "--costs", "--no-calibrate", "--cuda-library"});
      !flag.empty())
    return badInput(fmt::format("{} has no effect with --reference, which runs one step on the "
                                "batch of its file and keeps nothing",
                                flag));
  if (a.train.load.empty())
    return badInput("--reference needs --load=WEIGHTS, the ones that PyTorch's step began with");
  return {};
}

bool isCuda(const std::string &device) { return device.substr(0, device.find(':')) == "cuda"; }

/// What has no effect beside --selftest or --calibrate must not look as if it had.
Status checkWithoutModel(const CLI::App &app, const Arguments &a) {
  bool isCalibration = !a.calibrate.empty();
  std::vector<std::string> counts = {"--device", "--threads"};
  if (isCalibration)
    counts.push_back("--calibrate");
  else
    counts.insert(counts.end(), {"--selftest", "--selftest-quick", "--selftest-sections",
                                 "--selftest-only", "--selftest-limit", "--report"});
  if (std::string flag = firstGivenOutside(app, counts); !flag.empty())
    return badInput(fmt::format("{} has no effect with {}, which takes no model and does not train",
                                flag, isCalibration ? "--calibrate" : "--selftest"));
  if (isCalibration && !a.train.device.empty() && a.train.device != "cpu")
    return badInput("--calibrate measures the cpu device; leave --device out");
  for (const char *flag : {"--selftest-quick", "--selftest-sections", "--selftest-only",
                           "--selftest-limit", "--report"})
    if (!isCalibration && app.count(flag) && !isCuda(a.train.device))
      return badInput(fmt::format("{} has no effect on the self-test of this device; it goes with "
                                  "--device=cuda",
                                  flag));
  return {};
}

Status finish(const CLI::App &app, Arguments &a, Raw &raw, CompileFlags &compileFlags,
              ValidationFlags &validationFlags) {
  a.selftest |= a.selftestQuick || !a.selftestSections.empty() || !a.selftestOnly.empty() ||
                a.selftestLimit > 0;
  if (a.selftest || !a.calibrate.empty())
    return checkWithoutModel(app, a);
  if (a.model.empty())
    return badInput("gc-run needs a model: MODEL.mlir, PLAN or - (see gc-run --help)");
  if (a.verify)
    if (Status fine = checkVerify(a, raw); !fine)
      return fine;
  if (Status fine = validationFlags.finish(app); !fine)
    return fine;
  if (!a.reference.empty())
    if (Status fine = checkReference(app, a); !fine)
      return fine;
  if (raw.quiet && app.count("--progress"))
    return badInput("--quiet and --progress exclude each other: --quiet prints no progress");
  if (raw.quiet)
    a.train.progress = ProgressMode::None;
  else if (raw.progress != "auto")
    a.train.progress = raw.progress == "bar"     ? ProgressMode::Bar
                       : raw.progress == "lines" ? ProgressMode::Lines
                                                 : ProgressMode::Json;
  auto &schedule = a.train.schedule;
  if (raw.epochs->count())
    schedule.epochs = raw.epochCount;
  if (raw.steps->count())
    schedule.steps = raw.stepCount;
  else if (a.verify)
    schedule.steps = 2; // the second starts from what the first has changed
  if (raw.limit->count())
    schedule.limit = raw.limitCount;
  schedule.seedGiven = raw.seed->count() > 0;
  gc::CompileOptions &c = a.compile;
  c.keepGradients = !a.train.dumpGradients.empty() || a.train.logGradients;
  c.evaluate = schedule.evaluate || schedule.validation || a.train.evaluateOnly;
  c.threads = a.train.threads;
  if (!a.train.augment.empty()) {
    Result<gc::runtime::Augmentation> augmentation =
        gc::runtime::parseAugmentation(a.train.augment);
    if (!augmentation)
      return augmentation.error();
    c.mixLabels = augmentation->mixing.any();
  }
  if (!a.train.device.empty())
    c.device = a.train.device.substr(0, a.train.device.find(':'));
  if (Status fine = compileFlags.finish(); !fine)
    return fine;
  if (!a.train.dumpGradients.empty() && (schedule.evaluate || schedule.validation))
    return badInput(fmt::format("--dump-gradients and {} exclude each other: evaluation uses the "
                                "memory in which the gradients are kept; run them one after the "
                                "other",
                                schedule.evaluate ? "--evaluate" : "--validation"));
  if (app.count("--lr"))
    schedule.learningRate.lr = c.optimizer.lr;
  a.compileFlag = compileFlags.firstGiven();
  a.noCalibrate = compileFlags.noCalibrate();
  return {};
}

} // namespace

ParsedArguments parseArguments(int argc, char **argv) {
  ParsedArguments parsed;
  Arguments &a = parsed.arguments;
  Raw raw;
  CLI::App app("gc-run MODEL.mlir|PLAN: trains a network, compiling it first where given IR",
               "gc-run");
  app.add_option("MODEL", a.model, "gc IR, a plan, or - for IR on standard input");
  app.set_version_flag("--version", "gc-run " GC_VERSION);
  app.footer(examples);
  addDataFlags(app, a, raw);
  ValidationFlags validationFlags(a);
  validationFlags.add(app);
  CompileFlags compileFlags(a.compile);
  compileFlags.add(app);
  addLearningRateFlags(app, a);
  app.add_flag(
         "--verify", a.verify,
         "Instead of training, run the same --steps (default: 2) with and without recomputation "
         "and compare loss, gradients and variables bit by bit after each; exit code 1 where they "
         "differ")
      ->group("Memory");
  app.add_option("--reference", a.reference,
                 "Instead of training, run one step on the batch of this file of PyTorch's "
                 "(tools/import/export.py --check) with the weights of --load and compare loss, "
                 "gradients and updates; exit code 1 where they differ")
      ->group("Weights (safetensors, PyTorch's names and layouts)");
  addDeviceFlags(app, a);
  addFileFlags(app, a);
  validationFlags.addKeep(app);
  addTerminalFlags(app, raw);
  addConfigFlag(app);
  for (const char *flag : {"--calibrate", "--selftest", "--selftest-quick", "--selftest-sections",
                           "--selftest-only", "--selftest-limit"})
    app.get_option(flag)->configurable(false); // they train nothing
  if (!parseCommandLine(app, argc, argv, parsed.exitCode))
    return parsed;
  if (Status fine = finish(app, a, raw, compileFlags, validationFlags); !fine) {
    parsed.exitCode = failWith("gc-run", fine.error());
    return parsed;
  }
  a.train.origin.version = GC_VERSION;
  a.train.origin.commandLine = commandLineText(argc, argv);
  EffectiveConfiguration configuration = effectiveConfiguration(app, a.train.origin.commandLine);
  a.train.origin.configuration = configuration.json;
  a.train.configuration = configuration.toml;
  parsed.run = true;
  return parsed;
}

Status checkFiles(const Arguments &a) {
  if (!a.calibrate.empty())
    return gc::runtime::checkOutputs({{"--calibrate", a.calibrate}}, {});
  if (a.selftest && isCuda(a.train.device))
    return gc::runtime::checkOutputs(
        {{"--report", a.train.report.empty() ? CudaSelfTestOptions().report : a.train.report}}, {});
  return gc::runtime::checkOutputs(a.train, {modelInput(a.model), {"--costs", a.compile.costs}});
}
