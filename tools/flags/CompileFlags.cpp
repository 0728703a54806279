#include "tools/flags/CompileFlags.h"

#include "runtime/report/Sizes.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

using gc::runtime::badInput;
using gc::runtime::Result;

CLI::Option *CompileFlags::remember(CLI::Option *option, const char *group) {
  all.push_back(option->group(group));
  return option;
}

void CompileFlags::add(CLI::App &app) {
  parsed = &app;
  gc::CompileOptions &c = options;
  const char *group = "Optimizer (the defaults are PyTorch's)";
  auto number = [&](const char *flag, double &value, const char *text) {
    remember(app.add_option(flag, value, text)->capture_default_str(), group);
  };
  remember(app.add_option("--optimizer", c.optimizer, "sgd, adam or adamw")
               ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
               ->capture_default_str(),
           group);
  lrOption = remember(app.add_option("--lr", lr, "Learning rate (0.001)"), group);
  number("--momentum", c.momentum, "SGD's momentum");
  number("--dampening", c.dampening, "SGD's dampening");
  remember(app.add_flag("--nesterov", c.nesterov, "Nesterov's momentum"), group);
  weightDecayOption = remember(
      app.add_option("--weight-decay", weightDecay, "Weight decay (0; adamw: 0.01)"), group);
  number("--beta1", c.beta1, "Adam's first decay");
  number("--beta2", c.beta2, "Adam's second decay");
  number("--epsilon", c.epsilon, "Adam's epsilon");

  group = "Memory";
  remember(app.add_option("--accumulate", accumulate,
                          "Micro-batches in a step, or auto; the model's batch is the whole batch")
               ->capture_default_str(),
           group);
  remember(
      app.add_option("--remat", c.remat, "none, all, sqrt or checkpoints:N")->capture_default_str(),
      group);
  remember(app.add_option("--budget", budget,
                          "Peak of all bytes, such as 1.5GB (10^9), 1.5GiB (2^30) or plain bytes"),
           group);
  remember(app.add_option(
               "--costs", c.costs,
               "What ops cost: seconds of each from gc-run --profile, or this machine's rates "
               "from gc-run --calibrate (default: rates of the machine it was developed on)"),
           group);
  group = "Device";
  remember(app.add_option(
               "--target", c.target,
               "cuda: what to compile for: sm_75, sm_80, sm_86, sm_89, sm_90, sm_100 or sm_120"),
           group);
  remember(app.add_option("--cuda-library", c.cudaLibrary,
                          "cuda: auto (cuDNN where it is installed), cudnn or none (every kernel "
                          "is generated)")
               ->check(CLI::IsMember({"auto", "cudnn", "none"}))
               ->capture_default_str(),
           group);
  remember(app.add_flag("--allow-tf32", c.allowTf32, "cuda: engines that round f32 operands"),
           group);
  remember(app.add_flag("--allow-nondeterministic", c.allowNondeterministic,
                        "cuda: engines whose bits may differ from run to run; recomputation is "
                        "then not exact"),
           group);
}

/// What PyTorch's optimizers accept.
Result<void> CompileFlags::checkOptimizer() const {
  const gc::CompileOptions &c = options;
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

Result<void> CompileFlags::checkWishes() const {
  const gc::CompileOptions &c = options;
  const bool sgd = c.optimizer == "sgd", library = c.cudaLibrary != "none";
  const std::string ofSgd = "with --optimizer=" + c.optimizer + ": it is a setting of SGD",
                    ofAdam = "with --optimizer=" + c.optimizer + ": it is a setting of Adam",
                    ofCudnn = "with --cuda-library=none: it is about the engines of cuDNN";
  const struct {
    const char *flag;
    bool counts;
    std::string otherwise;
  } wishes[] = {{"--momentum", sgd, ofSgd},
                {"--dampening", sgd, ofSgd},
                {"--nesterov", sgd, ofSgd},
                {"--dampening", c.momentum > 0, "without a --momentum above 0"},
                {"--beta1", !sgd, ofAdam},
                {"--beta2", !sgd, ofAdam},
                {"--epsilon", !sgd, ofAdam},
                {"--allow-tf32", library, ofCudnn},
                {"--allow-nondeterministic", library, ofCudnn}};
  for (const auto &wish : wishes)
    if (!wish.counts && parsed->count(wish.flag))
      return badInput(fmt::format("{} has no effect {}", wish.flag, wish.otherwise));
  if (parsed->count("--budget") && parsed->count("--remat"))
    return badInput(fmt::format("--budget and --remat={} exclude each other: the budget decides "
                                "what is recomputed",
                                c.remat));
  return {};
}

Result<void> CompileFlags::readAccumulate() {
  if (accumulate == "auto") {
    options.accumulateAuto = true;
    return {};
  }
  char *end = nullptr;
  errno = 0;
  options.accumulate = std::strtol(accumulate.c_str(), &end, 10);
  if (errno || *end || accumulate.empty() || options.accumulate < 1)
    return badInput(fmt::format(
        "--accumulate={}: expected a number of micro-batches from 1 on, or auto", accumulate));
  return {};
}

Result<void> CompileFlags::readBudget() {
  if (budget.empty())
    return {};
  Result<uint64_t> bytes = gc::runtime::parseSize(budget);
  if (!bytes)
    return badInput("--budget: " + bytes.error().message);
  if (*bytes == 0)
    return badInput("--budget=0: the budget must be above 0 bytes");
  options.budgetBytes = *bytes;
  return {};
}

Result<void> CompileFlags::finish() {
  gc::CompileOptions &c = options;
  c.lr = lrOption->count() ? lr : 1e-3;
  c.weightDecay = weightDecayOption->count() ? weightDecay : (c.optimizer == "adamw" ? 0.01 : 0.0);
  if (Result<void> fine = checkWishes(); !fine)
    return fine;
  if (Result<void> fine = checkOptimizer(); !fine)
    return fine;
  if (Result<void> fine = readAccumulate(); !fine)
    return fine;
  if (Result<void> fine = readBudget(); !fine)
    return fine;
  return {};
}

std::string CompileFlags::firstGiven() const {
  for (const CLI::Option *option : all)
    if (option->count())
      return option->get_name();
  return "";
}
