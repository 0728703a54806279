#include "tools/flags/CompileFlags.h"

#include "runtime/report/Sizes.h"
#include "tools/flags/CommandLine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

using gc::runtime::badInput;
using gc::runtime::Result;
using gc::runtime::Status;

CLI::Option *CompileFlags::remember(CLI::Option *option, const char *group) {
  all.push_back(option->group(group));
  return option;
}

void CompileFlags::add(CLI::App &app) {
  parsed = &app;
  gc::CompileOptions &c = options;
  const char *group = "Optimizer (the defaults are PyTorch's, or those of its paper)";
  auto setting = [&](const char *flag, auto &value, const char *text) {
    return remember(app.add_option(flag, value, text), group);
  };
  gc::OptimizerSettings &o = c.optimizer;
  setting("--optimizer", o.name, "sgd, adam, adamw, rmsprop, lion, lamb or adafactor")
      ->check(choice(gc::optimizerNames()))
      ->capture_default_str();
  // A run of a finished plan may have it, too: it is data of the step.
  app.add_option("--lr", o.lr, "Learning rate (0.001; rmsprop, adafactor: 0.01; lion: 0.0001)")
      ->group(group);
  setting("--momentum", o.momentum, "Momentum of SGD and RMSprop (0)");
  setting("--dampening", o.dampening, "SGD's dampening (0)");
  remember(app.add_flag("--nesterov", o.nesterov, "Nesterov's momentum"), group);
  setting("--weight-decay", o.weightDecay, "Weight decay (0; adamw, lamb: 0.01)");
  setting("--beta1", o.beta1, "First decay of Adam, Lion and LAMB (0.9)");
  setting("--beta2", o.beta2, "Second decay of Adam, Lion and LAMB (0.999; lion: 0.99)");
  setting("--epsilon", o.epsilon,
          "Epsilon of Adam, RMSprop, LAMB and Adafactor (1e-08; lamb: 1e-06; adafactor: 2^-23)");
  setting("--beta2-decay", o.beta2Decay,
          "Adafactor: averages forget by the step to this power (-0.8)");
  setting("--epsilon2", o.epsilon2, "Adafactor: the least size that a parameter counts as (0.001)");
  setting("--clip-update", o.clipUpdate, "Adafactor: the largest size of a direction (1)");
  setting("--alpha", o.alpha, "RMSprop's decay of the average of squares (0.99)");
  remember(app.add_flag("--centered", o.centered,
                        "RMSprop: squares of what differs from the average gradient"),
           group);
  setting("--clip-norm", o.clipNorm, "Scale gradients so that the norm of all is at most this");
  setting("--clip-value", o.clipValue, "Cut each element of a gradient to [-VALUE, VALUE]");
  setting("--no-decay", o.noDecay,
          "Parameters without weight decay, by patterns of their names: '*.bias,*norm*'");
  setting("--lr-scale", o.lrScale,
          "Parameters with a multiple of the learning rate: 'PATTERN=FACTOR,...'");
  setting("--ema", o.ema,
          "Decay of a moving average of the weights, which is evaluated and saved in their place");

  group = "What is trained";
  remember(app.add_option("--freeze", c.freeze.names,
                          "Patterns of the names of parameters that are not trained, such as "
                          "\"conv1.*,layer1.*\": no gradient, no optimizer state, and nothing is "
                          "kept for them"),
           group);
  remember(app.add_option("--train-only", c.freeze.trainOnly,
                          "Instead: patterns of the only parameters that are trained, such as "
                          "\"fc.*\""),
           group);
  remember(app.add_flag("--freeze-norms", c.freeze.norms,
                        "Batch norms whose weight and bias are frozen use their running "
                        "statistics, which stay; without it they use the batch's, as in PyTorch"),
           group);
  remember(app.add_option("--label-smoothing", c.labelSmoothing,
                          "What the label's class gives to all classes in the training loss, from "
                          "0 on, below 1 (what the model says)"),
           group);

  group = "Precision";
  remember(app.add_option("--precision", c.precision.type,
                          "f32, or bf16: products multiply bf16 and add up in f32, and what is "
                          "between ops is kept in bf16; parameters, their gradients and optimizer "
                          "state stay f32")
               ->capture_default_str(),
           group);
  remember(app.add_option("--precision-of", c.precision.of,
                          "Layers with another precision, by patterns of their names, the last "
                          "that fits: 'head*=f32,norm*=f32'"),
           group);

  group = "Memory";
  remember(app.add_option("--accumulate", accumulate,
                          "Micro-batches in a step, or auto; the model's batch is the whole batch")
               ->capture_default_str(),
           group);
  remember(app.add_option("--split", split,
                          "Parts of the batch that chains of ops are computed in, one part after "
                          "the other: auto (where that makes a budget possible or cheaper), off, "
                          "or N")
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
               "from gc-run --calibrate (default: rates of this machine, measured once)"),
           group);
  // A run of a finished plan may have it, too: it then keeps nothing that it measures.
  app.add_flag("--no-calibrate", noCalibrate_,
               "Neither measure this machine nor use what was measured: built-in rates, and the "
               "same plan on every machine")
      ->group(group);
  group = "Device";
  remember(app.add_option(
               "--target", c.target,
               "cuda: what to compile for: sm_75, sm_80, sm_86, sm_89, sm_90, sm_100 or sm_120, or "
               "a card such as rtx4090 (default: the GPU that is there)"),
           group);
  remember(app.add_option("--cuda-library", c.cudaLibrary,
                          "cuda: auto (cuDNN or generated kernels, by time), cudnn or none (every "
                          "kernel is generated)")
               ->check(choice({"auto", "cudnn", "none"}))
               ->capture_default_str(),
           group);
  remember(app.add_flag("--allow-tf32", c.allowTf32,
                        "cuda: products that round f32 operands (to TF32) or sums"),
           group);
  remember(app.add_flag("--allow-nondeterministic", c.allowNondeterministic,
                        "cuda: engines whose bits may differ from run to run; recomputation is "
                        "then not exact"),
           group);
}

Status CompileFlags::checkWishes() const {
  const gc::CompileOptions &c = options;
  if (c.cudaLibrary == "none" && parsed->count("--allow-nondeterministic"))
    return badInput("--allow-nondeterministic has no effect with --cuda-library=none: it is about "
                    "the engines of cuDNN");
  if (noCalibrate_ && !c.costs.empty())
    return badInput("--no-calibrate has no effect with --costs, which says what ops cost");
  if (noCalibrate_ && c.device != "cpu")
    return badInput("--no-calibrate has no effect with --device=" + c.device +
                    ": it is about the rates of this machine's CPU");
  if (std::string wrong = c.precision.check("--precision", "--precision-of"); !wrong.empty())
    return badInput(wrong);
  if (c.precision.isMixed() && c.device != "cpu")
    return badInput("--precision=" + c.precision.type + " is not possible with --device=" +
                    c.device + " yet: its kernels compute f32 alone; say --precision=f32");
  if (parsed->count("--budget") && parsed->count("--remat"))
    return badInput(fmt::format("--budget and --remat={} exclude each other: the budget decides "
                                "what is recomputed",
                                c.remat));
  return {};
}

Status CompileFlags::checkTrained() const {
  if (std::string wrong = options.freeze.check("--freeze", "--train-only"); !wrong.empty())
    return badInput(wrong);
  if (double e = options.labelSmoothing.value_or(0); !(e >= 0 && e < 1))
    return badInput(fmt::format("--label-smoothing={}: expected a number from 0 on, below 1", e));
  return {};
}

Status CompileFlags::readAccumulate() {
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

// auto, off, N, or N:CHAINS as reports name them.
Status CompileFlags::readSplit() {
  options.split = {};
  if (split == "auto")
    return {};
  options.split.automatic = false;
  if (split == "off")
    return {};
  size_t colon = split.find(':');
  std::string number = split.substr(0, colon);
  char *end = nullptr;
  errno = 0;
  options.split.parts = std::strtol(number.c_str(), &end, 10);
  bool hasChains = colon != std::string::npos;
  if (hasChains)
    options.split.chains = split.substr(colon + 1);
  if (errno || *end || number.empty() || options.split.parts < 2 ||
      (hasChains && options.split.chains.empty()))
    return badInput(fmt::format("--split={}: expected auto, off or a number of parts from 2 on "
                                "(N, or N:CHAINS as a report names them)",
                                split));
  return {};
}

Status CompileFlags::readBudget() {
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

Status CompileFlags::finish() {
  if (Status fine = checkWishes(); !fine)
    return fine;
  if (std::string wrong = options.optimizer.check("--"); !wrong.empty())
    return badInput(wrong);
  if (Status fine = checkTrained(); !fine)
    return fine;
  if (Status fine = readAccumulate(); !fine)
    return fine;
  if (Status fine = readSplit(); !fine)
    return fine;
  if (Status fine = readBudget(); !fine)
    return fine;
  return {};
}

std::string CompileFlags::firstGiven() const {
  for (const CLI::Option *option : all)
    if (option->count())
      return option->get_name();
  return "";
}
