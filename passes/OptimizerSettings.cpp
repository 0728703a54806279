//===- OptimizerSettings.cpp - how parameters are updated -----------------===//
#include "passes/OptimizerSettings.h"
#include <cmath>
#include <sstream>
#include <vector>

namespace gc {
namespace {

enum Optimizer : unsigned {
  Sgd = 1,
  Adam = 2,
  AdamW = 4,
  Rmsprop = 8,
  Lion = 16,
  Lamb = 32,
  Adafactor = 64
};
constexpr unsigned kAll = Sgd | Adam | AdamW | Rmsprop | Lion | Lamb | Adafactor;

struct Known {
  Optimizer kind;
  const char *name, *called;
  // The defaults of what it has; 0 for the rest.
  double lr, weightDecay, beta1, beta2, epsilon;
};
constexpr Known kKnown[] = {{Sgd, "sgd", "SGD", 1e-3, 0, 0, 0, 0},
                            {Adam, "adam", "Adam", 1e-3, 0, 0.9, 0.999, 1e-8},
                            {AdamW, "adamw", "AdamW", 1e-3, 0.01, 0.9, 0.999, 1e-8},
                            {Rmsprop, "rmsprop", "RMSprop", 1e-2, 0, 0, 0, 1e-8},
                            {Lion, "lion", "Lion", 1e-4, 0, 0.9, 0.99, 0},
                            {Lamb, "lamb", "LAMB", 1e-3, 0.01, 0.9, 0.999, 1e-6},
                            // epsilon is that of f32, as PyTorch takes it
                            {Adafactor, "adafactor", "Adafactor", 1e-2, 0, 0, 0, 0x1p-23}};

// Null where there is none of this name.
const Known *find(std::string_view name) {
  for (const Known &known : kKnown)
    if (known.name == name)
      return &known;
  return nullptr;
}

// "sgd, adam or adamw": those of `kinds`, with `last` before the last of them.
std::string listed(unsigned kinds, const char *Known::*text, const char *last) {
  std::vector<std::string> names;
  for (const Known &known : kKnown)
    if (kinds & known.kind)
      names.push_back(known.*text);
  std::string list;
  for (size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
  return list;
}

} // namespace

std::vector<std::string> optimizerNames() {
  std::vector<std::string> names;
  for (const Known &known : kKnown)
    names.push_back(known.name);
  return names;
}

std::string optimizerList() { return listed(kAll, &Known::name, " or "); }

std::string OptimizerSettings::check(std::string_view prefix, std::string_view nameOption) const {
  std::ostringstream text;
  auto own = [&](std::string_view setting) { return std::string(prefix).append(setting); };
  const Known *known = find(name);
  if (!known) {
    text << own(nameOption) << '=' << name << ": expected " << optimizerList();
    return text.str();
  }
  const struct {
    const char *setting;
    std::optional<double> value;
    unsigned kinds; // that have it
    double limit;
  } numbers[] = {
      {"lr", lr, kAll, HUGE_VAL},
      {"momentum", momentum, Sgd | Rmsprop, HUGE_VAL},
      {"dampening", dampening, Sgd, HUGE_VAL},
      {"nesterov", nesterov ? std::optional<double>(0) : std::nullopt, Sgd, HUGE_VAL},
      {"weight-decay", weightDecay, kAll, HUGE_VAL},
      {"beta1", beta1, Adam | AdamW | Lion | Lamb, 1},
      {"beta2", beta2, Adam | AdamW | Lion | Lamb, 1},
      {"epsilon", epsilon, Adam | AdamW | Rmsprop | Lamb | Adafactor, HUGE_VAL},
      {"beta2-decay", beta2Decay ? std::optional<double>(0) : std::nullopt, Adafactor, HUGE_VAL},
      {"epsilon2", epsilon2, Adafactor, HUGE_VAL},
      {"clip-update", clipUpdate, Adafactor, HUGE_VAL},
      {"alpha", alpha, Rmsprop, 1},
      {"centered", centered ? std::optional<double>(0) : std::nullopt, Rmsprop, HUGE_VAL},
      {"ema", ema, kAll, 1}};
  for (const auto &number : numbers) {
    if (!number.value)
      continue;
    if (!(number.kinds & known->kind))
      text << own(number.setting) << " has no effect with " << own(nameOption) << '=' << name
           << ": it is a setting of " << listed(number.kinds, &Known::called, " and ");
    else if (!(*number.value >= 0 && *number.value < number.limit))
      text << own(number.setting) << '=' << *number.value << ": expected a number from 0 on"
           << (number.limit == 1 ? ", below 1" : "");
    else
      continue;
    return text.str();
  }
  if (beta2Decay && !(*beta2Decay <= 0 && *beta2Decay > -HUGE_VAL)) {
    text << own("beta2-decay") << '=' << *beta2Decay << ": expected a number up to 0";
    return text.str();
  }
  if (clipUpdate && !(*clipUpdate >= 1)) {
    text << own("clip-update") << '=' << *clipUpdate << ": expected a number from 1 on";
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
  else if (dampening && !nesterov && momentum.value_or(0) == 0)
    text << own("dampening") << " has no effect without a " << own("momentum") << " above 0";
  else if (nesterov && (momentum.value_or(0) == 0 || dampening.value_or(0) != 0))
    text << own("nesterov") << " needs a " << own("momentum") << " above 0 and no "
         << own("dampening");
  return text.str();
}

OptimizerSettings OptimizerSettings::withDefaults() const {
  OptimizerSettings all = *this;
  const Known *known = find(name);
  if (!known)
    return all;
  all.lr = lr.value_or(known->lr);
  all.weightDecay = weightDecay.value_or(known->weightDecay);
  if (known->kind & (Sgd | Rmsprop))
    all.momentum = momentum.value_or(0);
  if (known->kind == Sgd)
    all.dampening = dampening.value_or(0);
  if (known->kind == Rmsprop)
    all.alpha = alpha.value_or(0.99);
  if (known->kind & (Adam | AdamW | Lion | Lamb)) {
    all.beta1 = beta1.value_or(known->beta1);
    all.beta2 = beta2.value_or(known->beta2);
  }
  if (known->kind == Adafactor) {
    all.beta2Decay = beta2Decay.value_or(-0.8);
    all.epsilon2 = epsilon2.value_or(1e-3);
    all.clipUpdate = clipUpdate.value_or(1);
  }
  if (known->kind & (Adam | AdamW | Rmsprop | Lamb | Adafactor))
    all.epsilon = epsilon.value_or(known->epsilon);
  return all;
}

} // namespace gc
