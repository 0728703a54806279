//===- OptimizerSettings.cpp - how parameters are updated -----------------===//
#include "passes/OptimizerSettings.h"
#include <cmath>
#include <sstream>

namespace gc {

std::string OptimizerSettings::check(std::string_view prefix, std::string_view nameOption) const {
  const bool sgd = name == "sgd", adam = name == "adam" || name == "adamw";
  std::ostringstream text;
  auto own = [&](std::string_view setting) { return std::string(prefix).append(setting); };
  if (!sgd && !adam) {
    text << own(nameOption) << '=' << name << ": expected sgd, adam or adamw";
    return text.str();
  }
  const struct {
    const char *setting;
    std::optional<double> value;
    bool counts;
    double limit;
  } numbers[] = {{"lr", lr, true, HUGE_VAL},
                 {"momentum", momentum, sgd, HUGE_VAL},
                 {"dampening", dampening, sgd, HUGE_VAL},
                 {"weight-decay", weightDecay, true, HUGE_VAL},
                 {"beta1", beta1, adam, 1},
                 {"beta2", beta2, adam, 1},
                 {"epsilon", epsilon, adam, HUGE_VAL},
                 {"ema", ema, true, 1}};
  for (const auto &number : numbers) {
    if (!number.value)
      continue;
    if (!number.counts)
      text << own(number.setting) << " has no effect with " << own(nameOption) << '=' << name
           << ": it is a setting of " << (sgd ? "Adam" : "SGD");
    else if (!(*number.value >= 0 && *number.value < number.limit))
      text << own(number.setting) << '=' << *number.value << ": expected a number from 0 on"
           << (number.limit == 1 ? ", below 1" : "");
    else
      continue;
    return text.str();
  }
  for (auto [setting, value] : {std::pair("clip-norm", clipNorm), {"clip-value", clipValue}})
    if (value && !(*value > 0 && *value < HUGE_VAL)) {
      text << own(setting) << '=' << *value << ": expected a number above 0";
      return text.str();
    }
  if (clipNorm && clipValue)
    text << own("clip-norm") << " and " << own("clip-value")
         << " exclude each other: gradients are clipped in one way";
  else if (!noDecay.empty() && *withDefaults().weightDecay == 0)
    text << own("no-decay") << " has no effect without a " << own("weight-decay") << " above 0";
  else if (nesterov && !sgd)
    text << own("nesterov") << " has no effect with " << own(nameOption) << '=' << name
         << ": it is a setting of SGD";
  else if (dampening && !nesterov && momentum.value_or(0) == 0)
    text << own("dampening") << " has no effect without a " << own("momentum") << " above 0";
  else if (nesterov && (momentum.value_or(0) == 0 || dampening.value_or(0) != 0))
    text << own("nesterov") << " needs a " << own("momentum") << " above 0 and no "
         << own("dampening");
  return text.str();
}

OptimizerSettings OptimizerSettings::withDefaults() const {
  OptimizerSettings all = *this;
  all.weightDecay = weightDecay.value_or(name == "adamw" ? 0.01 : 0);
  if (name == "sgd") {
    all.momentum = momentum.value_or(0);
    all.dampening = dampening.value_or(0);
  } else {
    all.beta1 = beta1.value_or(0.9);
    all.beta2 = beta2.value_or(0.999);
    all.epsilon = epsilon.value_or(1e-8);
  }
  return all;
}

} // namespace gc
