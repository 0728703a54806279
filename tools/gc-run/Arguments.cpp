#include "tools/gc-run/Arguments.h"

#include "runtime/report/Sizes.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using gc::runtime::badInput;
using gc::runtime::Error;
using gc::runtime::Result;

static const char *const examples = R"(
Examples:
  gc-gen mnist | gc-run - --data=fashion-mnist --epochs=2 --optimizer=adam --evaluate
  gc-run resnet.mlir --data=synthetic --steps=20 --report=run.json
  gc-run net.plan --data=batch.safetensors --load=start.safetensors --save=end.safetensors
  gc-run mnist.mlir --data=fashion-mnist --epochs=9 --checkpoint=run --resume=run
  gc-run --selftest --device=cpu

Exit codes: 0 done, 1 the run failed, 2 bad usage or input, 3 the budget cannot be met,
4 device or driver missing or failing. Ctrl-C ends after the current step and saves what was asked
for; a second one kills.
)";

namespace {

/// What needs a second look after CLI11 has read the strings.
struct Raw {
  std::string accumulate = "1", budget, remat = "none";
  double lr = 0, weightDecay = 0;
  bool verify = false;
  CLI::Option *lrOption = nullptr, *weightDecayOption = nullptr;
  CLI::Option *epochs = nullptr, *steps = nullptr, *limit = nullptr;
  uint64_t epochCount = 1, stepCount = 0, limitCount = 0;
  std::vector<CLI::Option *> compileOptions;
};

/// CLI11 alone would wrap -1 around to the largest number.
const CLI::Validator count(
    [](std::string &text) {
      bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
      return digits && text.size() <= 15 ? std::string()
                                         : "'" + text + "' is not a number from 0 on";
    },
    "COUNT");

void addDataFlags(CLI::App &app, Arguments &a, Raw &raw) {
  auto &schedule = a.train.schedule;
  const char *group = "Data and length";
  app.add_option("--data", a.train.data,
                 "synthetic, fashion-mnist, mnist:DIR, cifar10:DIR, images:DIR or FILE.safetensors "
                 "(tensors image, N x C x H x W f32, and label, N i64). Named sets are looked for "
                 "below $GC_DATASETS, else where Debian's packages put them")
      ->capture_default_str()
      ->group(group);
  raw.epochs = app.add_option("--epochs", raw.epochCount,
                              "Epochs in all, also after --resume (default: 1; synthetic data: 20 "
                              "steps). The incomplete last batch of an epoch is dropped")
                   ->check(count)
                   ->group(group);
  raw.steps = app.add_option("--steps", raw.stepCount, "Steps in all, instead of epochs")
                  ->check(count)
                  ->excludes(raw.epochs)
                  ->group(group);
  raw.limit = app.add_option("--limit", raw.limitCount, "Use only the first N training samples")
                  ->check(count)
                  ->group(group);
  app.add_flag("--shuffle", schedule.shuffle, "A new order for each epoch")->group(group);
  app.add_option("--seed", schedule.seed, "Of initial weights, order, dropout and synthetic data")
      ->check(count)
      ->capture_default_str()
      ->group(group);
  app.add_option("--workers", schedule.workers, "Loader threads; 0 loads between steps")
      ->check(CLI::Range(0, 256))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--evaluate", schedule.evaluate,
               "Loss and accuracy on the test split after each epoch, in inference mode")
      ->group(group);
}

void addCompileFlags(CLI::App &app, Arguments &a, Raw &raw) {
  gc::CompileOptions &c = a.compile;
  auto add = [&](CLI::Option *option, const char *group) {
    raw.compileOptions.push_back(option->group(group));
    return option;
  };
  const char *group = "Optimizer (the defaults are PyTorch's)";
  add(app.add_option("--optimizer", c.optimizer, "sgd, adam or adamw")
          ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
          ->capture_default_str(),
      group);
  raw.lrOption = add(app.add_option("--lr", raw.lr, "Learning rate (0.001)"), group);
  add(app.add_option("--momentum", c.momentum, "SGD's momentum")->capture_default_str(), group);
  add(app.add_option("--dampening", c.dampening, "SGD's dampening")->capture_default_str(), group);
  add(app.add_flag("--nesterov", c.nesterov, "Nesterov's momentum"), group);
  raw.weightDecayOption = add(
      app.add_option("--weight-decay", raw.weightDecay, "Weight decay (0; adamw: 0.01)"), group);
  add(app.add_option("--beta1", c.beta1, "Adam's first decay")->capture_default_str(), group);
  add(app.add_option("--beta2", c.beta2, "Adam's second decay")->capture_default_str(), group);
  add(app.add_option("--epsilon", c.epsilon, "Adam's epsilon")->capture_default_str(), group);

  group = "Memory";
  add(app.add_option("--accumulate", raw.accumulate,
                     "Micro-batches in a step, or auto; the model's batch is the whole batch")
          ->capture_default_str(),
      group);
  add(app.add_option("--remat", raw.remat, "none, all, sqrt or checkpoints:N")
          ->capture_default_str(),
      group);
  add(app.add_option("--budget", raw.budget,
                     "Peak of all bytes, such as 1.5GB (10^9), 1.5GiB (2^30) or plain bytes"),
      group);
  add(app.add_option("--costs", c.costs, "Measured seconds per op, from --profile"), group);
  app.add_flag(
         "--verify", raw.verify,
         "Run with and without recomputation and compare loss, gradients and state bit by bit")
      ->group(group);
}

void addDeviceFlags(CLI::App &app, Arguments &a) {
  const char *group = "Device";
  app.add_option("--device", a.train.device, "cpu or cuda[:N] (default: cpu, or the plan's)")
      ->group(group);
  app.add_option("--target", a.compile.target, "What to compile for, such as sm_80 (cuda)")
      ->group(group);
  app.add_option("--threads", a.train.threads, "Threads of the cpu device (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  app.add_flag("--selftest", a.selftest, "Run the conformance suite on the device, with a verdict")
      ->group(group);
}

void addFileFlags(CLI::App &app, Arguments &a) {
  gc::runtime::TrainOptions &t = a.train;
  const char *group = "Weights (safetensors, PyTorch's names and layouts)";
  app.add_option("--load", t.load, "Start from these weights and running statistics")->group(group);
  app.add_option("--save", t.save, "Write weights and running statistics at the end")->group(group);
  app.add_option("--dump-gradients", t.dumpGradients,
                 "Write the last step's gradients; keeps them alive, which the peak shows")
      ->group(group);
  app.add_option("--checkpoint", t.checkpoint,
                 "Directory for weights, optimizer state, step and generator after each epoch")
      ->group(group);
  app.add_option("--resume", t.resume, "Go on from such a directory")->group(group);
  group = "Reports";
  app.add_option("--report", t.report, "Everything as JSON")->group(group);
  app.add_option("--log-dir", t.logDir, "TensorBoard event files")->group(group);
  app.add_option("--trace", t.trace, "The last step's commands for ui.perfetto.dev")->group(group);
  app.add_option("--html", t.html, "A page with memory timeline and loss curve")->group(group);
  app.add_option("--profile", t.profile, "Measured seconds per op, for --costs")->group(group);
}

/// What PyTorch's optimizers accept.
Result<void> checkOptimizer(const gc::CompileOptions &c) {
  const struct {
    const char *flag;
    double value, limit;
  } numbers[] = {{"--lr", c.lr, HUGE_VAL},
                 {"--momentum", c.momentum, HUGE_VAL},
                 {"--dampening", c.dampening, HUGE_VAL},
                 {"--weight-decay", c.weightDecay, HUGE_VAL},
                 {"--beta1", c.beta1, 1},
                 {"--beta2", c.beta2, 1},
                 {"--epsilon", c.epsilon, HUGE_VAL}};
  for (const auto &number : numbers)
    if (!(number.value >= 0 && number.value < number.limit))
      return badInput(fmt::format("{}={}: expected a number from 0 on{}", number.flag, number.value,
                                  number.limit == 1 ? ", below 1" : ""));
  if (c.nesterov && (c.momentum <= 0 || c.dampening != 0))
    return badInput("--nesterov needs a --momentum above 0 and no --dampening");
  return {};
}

Result<void> finish(Arguments &a, Raw &raw) {
  if (a.model.empty() && !a.selftest)
    return badInput("gc-run needs a model: MODEL.mlir, PLAN or - (see gc-run --help)");
  if (raw.verify)
    return badInput("--verify comes with rematerialization; not available yet");
  auto &schedule = a.train.schedule;
  if (raw.epochs->count())
    schedule.epochs = raw.epochCount;
  if (raw.steps->count())
    schedule.steps = raw.stepCount;
  if (raw.limit->count())
    schedule.limit = raw.limitCount;
  gc::CompileOptions &c = a.compile;
  c.lr = raw.lrOption->count() ? raw.lr : 1e-3;
  c.weightDecay =
      raw.weightDecayOption->count() ? raw.weightDecay : (c.optimizer == "adamw" ? 0.01 : 0.0);
  if (Result<void> fine = checkOptimizer(c); !fine)
    return fine;
  if (raw.accumulate == "auto") {
    c.accumulateAuto = true;
  } else {
    char *end = nullptr;
    errno = 0;
    c.accumulate = std::strtol(raw.accumulate.c_str(), &end, 10);
    if (errno || *end || raw.accumulate.empty() || c.accumulate < 1)
      return badInput(
          fmt::format("--accumulate={}: expected a number of micro-batches from 1 on, or "
                      "auto",
                      raw.accumulate));
  }
  c.remat = raw.remat;
  a.train.rematPolicy = raw.remat;
  if (!raw.budget.empty()) {
    Result<uint64_t> budget = gc::runtime::parseSize(raw.budget);
    if (!budget)
      return badInput("--budget: " + budget.error().message);
    if (*budget == 0)
      return badInput("--budget=0: the budget must be above 0 bytes");
    c.budgetBytes = *budget;
    a.train.budgetBytes = *budget;
  }
  c.keepGradients = !a.train.dumpGradients.empty();
  c.evaluate = schedule.evaluate;
  c.threads = a.train.threads;
  if (!a.train.device.empty())
    c.device = a.train.device.substr(0, a.train.device.find(':'));
  for (CLI::Option *option : raw.compileOptions)
    if (option->count() && a.compileFlag.empty())
      a.compileFlag = option->get_name();
  a.compileFlagGiven = !a.compileFlag.empty();
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
  addCompileFlags(app, a, raw);
  addDeviceFlags(app, a);
  addFileFlags(app, a);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &help) {
    app.exit(help);
    return parsed;
  } catch (const CLI::CallForVersion &version) {
    app.exit(version);
    return parsed;
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "gc-run: %s\nsee gc-run --help\n", error.what());
    parsed.exitCode = 2;
    return parsed;
  }
  if (Result<void> fine = finish(a, raw); !fine) {
    std::fprintf(stderr, "gc-run: %s\n", fine.error().message.c_str());
    parsed.exitCode = fine.error().exitCode();
    return parsed;
  }
  parsed.run = true;
  return parsed;
}
