#include "tools/gc-run/ValidationFlags.h"

#include "runtime/data/Holdout.h"
#include "tools/flags/CommandLine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using gc::runtime::badInput;
using gc::runtime::Status;

void ValidationFlags::add(CLI::App &app) {
  const char *group = "Validation and evaluation";
  app.add_flag("--evaluate", arguments.train.schedule.evaluate,
               "Loss and accuracy on the test split after each epoch, in inference mode")
      ->group(group);
  app.add_option("--validation", arguments.train.validation,
                 "Keep a part of the training samples for validation: a FRACTION, a number N, or "
                 "own (DIR/val of images:DIR, whose test split is then DIR/test)")
      ->group(group);
  app.add_option("--validate-every", validateEvery,
                 "Validate after so many epochs, or steps where s stands behind the number (500s)")
      ->capture_default_str()
      ->group(group);
  app.add_option("--monitor", monitor,
                 "The METRIC of validations by which one is the best, and min or max: loss:min, "
                 "accuracy:max, top5:max")
      ->capture_default_str()
      ->group(group);
  app.add_option("--early-stop", patience,
                 "Stop after so many validations in a row without an improvement")
      ->check(CLI::PositiveNumber & countValidator())
      ->type_name("UINT")
      ->group(group);
  app.add_option("--min-delta", minDelta,
                 "For --early-stop: an improvement is more than this (default: 0)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_flag("--evaluate-only", arguments.train.evaluateOnly,
               "Evaluate the weights of --load or --resume on the test split (and on that of "
               "--validation) and train nothing")
      ->group(group);
  app.add_option(
         "--predict", arguments.train.predict,
         "With --evaluate-only: what the model answers to each sample of the test split, as "
         "FILE.safetensors (logits, label) or FILE.csv")
      ->group(group);
}

void ValidationFlags::addKeep(CLI::App &app) {
  const std::string group = app.get_option("--checkpoint")->get_group();
  app.add_option("--keep", keep,
                 "Which checkpoints stay: best[:N] of validations, last[:N], N (the last ones), "
                 "all, separated by commas; the last always (default: last, with --validation "
                 "best,last)")
      ->group(group);
}

/// What needs something else to have an effect.
static Status checkCompanions(const CLI::App &app) {
  struct Companion {
    const char *flag, *needed;
  };
  for (auto [flag, needed] : {Companion{"--validate-every", "--validation"},
                              {"--monitor", "--validation"},
                              {"--early-stop", "--validation"},
                              {"--min-delta", "--early-stop"},
                              {"--predict", "--evaluate-only"},
                              {"--load-partial", "--load"},
                              {"--save-as", "--save"},
                              {"--checkpoint-every", "--checkpoint"},
                              {"--keep", "--checkpoint"},
                              {"--log-histograms", "--log-dir"},
                              {"--log-gradients", "--log-histograms"}})
    if (app.count(flag) && !app.count(needed))
      return badInput(fmt::format("{} has no effect without {}", flag, needed));
  return {};
}

/// `3` epochs or `500s`, steps.
static Status readValidateEvery(const std::string &text,
                                gc::runtime::ValidationSchedule &validation) {
  validation.countsSteps = text.ends_with('s');
  std::string digits = text.substr(0, text.size() - validation.countsSteps);
  if (digits.empty() || digits.size() > 18 ||
      digits.find_first_not_of("0123456789") != std::string::npos || std::stoull(digits) == 0)
    return badInput(fmt::format("--validate-every={}: expected a number of epochs from 1 on, or of "
                                "steps with an s behind it",
                                text));
  validation.every = std::stoull(digits);
  return {};
}

/// What only training looks at must not look as if it had an effect.
static Status checkEvaluateOnly(const CLI::App &app, const Arguments &a) {
  std::string flag = firstGivenOutside(app, {"MODEL",           "--evaluate-only", "--data",
                                             "--test-data",     "--validation",    "--normalize",
                                             "--on-bad-sample", "--seed",          "--workers",
                                             "--device",        "--threads",       "--load",
                                             "--resume",        "--save",          "--save-as",
                                             "--report",        "--html",          "--predict",
                                             "--progress",      "--quiet",         "--config",
                                             "--target",        "--accumulate",    "--costs",
                                             "--no-calibrate",  "--precision",     "--ema"});
  if (!flag.empty())
    return badInput(
        fmt::format("{} has no effect with --evaluate-only, which trains nothing", flag));
  if (a.train.load.empty() && a.train.resume.empty())
    return badInput("--evaluate-only needs the weights: --load=FILE, or a checkpoint by "
                    "--resume=DIR");
  return {};
}

Status ValidationFlags::finish(const CLI::App &app) {
  if (arguments.train.evaluateOnly)
    if (Status fine = checkEvaluateOnly(app, arguments); !fine)
      return fine;
  if (Status fine = checkCompanions(app); !fine)
    return fine;
  gc::runtime::TrainOptions &t = arguments.train;
  if (!keep.empty()) {
    gc::runtime::Result<gc::runtime::KeepRule> rule = gc::runtime::parseKeepRule(keep);
    if (!rule)
      return rule.error();
    if (rule->best > 0 && t.validation.empty())
      return badInput(fmt::format("--keep={}: without --validation none is the best", keep));
    t.keep = *rule;
  }
  if (t.validation.empty())
    return {};
  if (auto size = gc::runtime::parseHoldout(t.validation); !size)
    return size.error();
  gc::runtime::ValidationSchedule validation;
  if (Status fine = readValidateEvery(validateEvery, validation); !fine)
    return fine;
  auto monitored = gc::runtime::parseMonitoredMetric(monitor);
  if (!monitored)
    return monitored.error();
  validation.watch.monitored = *monitored;
  if (app.count("--early-stop"))
    validation.watch.patience = patience;
  validation.watch.minDelta = minDelta;
  t.schedule.validation = validation;
  return {};
}
