#include "runtime/trainer/Reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gc::runtime {

// The thresholds of tools/compare/gradients.py, and of test/pinned for what rounding explains.
static constexpr double medianFactor = 5, worst = 2e-2, small = 1e-3, smallShare = 0.9,
                        responseFactor = 4;
// One rounding of a sum of some thousand terms: what PyTorch may miss by luck.
static constexpr double leastOwn = 1e-6;

Result<ReferenceSetting> readReferenceSetting(const SafetensorsFile &file) {
  auto bad = [&](const std::string &what) {
    return badInput(fmt::format(
        "'{}' is no reference: {}; tools/import/export.py --check writes one", file.path(), what));
  };
  auto optimizer = file.metadata().find("optimizer"), rate = file.metadata().find("lr");
  if (optimizer == file.metadata().end() || optimizer->second != "sgd")
    return bad("its metadata has no optimizer 'sgd'");
  ReferenceSetting setting;
  char *end = nullptr;
  if (rate != file.metadata().end())
    setting.learningRate = std::strtod(rate->second.c_str(), &end);
  if (!end || *end != '\0' || !(setting.learningRate > 0) || !std::isfinite(setting.learningRate))
    return bad("its metadata has no learning rate 'lr'");
  return setting;
}

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

static std::vector<const ComparedTensor *> ofKind(const ReferenceReport &report,
                                                  ComparedKind kind) {
  std::vector<const ComparedTensor *> result;
  for (const ComparedTensor &tensor : report.tensors)
    if (tensor.kind == kind)
      result.push_back(&tensor);
  return result;
}

/// Whether an error is rounding's: as much as PyTorch's own (of a gradient that is nearly zero,
/// because a norm takes it out again, or of an update that float32 hardly resolves), or as much as
/// rounding the weights does.
static bool isRounding(const ComparedTensor &tensor) {
  return tensor.error <= medianFactor * tensor.own ||
         tensor.error <= responseFactor * tensor.response;
}

static double medianOwn(const std::vector<const ComparedTensor *> &tensors) {
  std::vector<double> own;
  for (const ComparedTensor *tensor : tensors)
    own.push_back(tensor->own);
  return std::max(median(own), leastOwn);
}

/// Whether a kind as a whole is too far off, and then from which error on a tensor is.
static double limitOf(const std::vector<const ComparedTensor *> &tensors) {
  double own = medianOwn(tensors);
  if (tensors[0]->kind == ComparedKind::Loss)
    return medianFactor * own;
  std::vector<double> errors;
  double few = 0;
  for (const ComparedTensor *tensor : tensors) {
    double error = std::isnan(tensor->error) ? INFINITY : tensor->error;
    errors.push_back(isRounding(*tensor) ? std::min(error, tensor->own) : error);
    few += isRounding(*tensor) || error < small;
  }
  if (median(errors) > medianFactor * own)
    return medianFactor * own;
  return few < smallShare * static_cast<double>(errors.size()) ? small : worst;
}

const ComparedTensor *firstOff(const ReferenceReport &report) {
  for (ComparedKind kind : {ComparedKind::Statistic, ComparedKind::Loss, ComparedKind::Gradient,
                            ComparedKind::Update}) {
    std::vector<const ComparedTensor *> tensors = ofKind(report, kind);
    if (tensors.empty())
      continue;
    double limit = limitOf(tensors);
    for (const ComparedTensor *tensor : tensors)
      if (!isRounding(*tensor) && !(tensor->error <= limit)) // also NaN
        return tensor;
  }
  return nullptr;
}

static std::string nameOf(const ComparedTensor &tensor) {
  switch (tensor.kind) {
  case ComparedKind::Statistic:
    return fmt::format("running statistic '{}'", tensor.name);
  case ComparedKind::Loss:
    return "the loss";
  case ComparedKind::Gradient:
    return fmt::format("the gradient of '{}'", tensor.name);
  case ComparedKind::Update:
    return fmt::format("the update of '{}'", tensor.name);
  }
  return tensor.name;
}

std::string referenceText(const ReferenceReport &report) {
  std::string text = fmt::format("loss        {:.9g}, PyTorch's in float64 is {:.9g}\n",
                                 report.loss, report.truth);
  text += "            tensors    median   PyTorch's   largest   of\n";
  for (auto [kind, label] : {std::pair(ComparedKind::Statistic, "statistics"),
                             std::pair(ComparedKind::Gradient, "gradients"),
                             std::pair(ComparedKind::Update, "updates")}) {
    std::vector<const ComparedTensor *> tensors = ofKind(report, kind);
    if (tensors.empty())
      continue;
    std::vector<double> errors;
    for (const ComparedTensor *tensor : tensors)
      errors.push_back(tensor->error);
    const ComparedTensor *largest =
        *std::max_element(tensors.begin(), tensors.end(),
                          [](const auto *a, const auto *b) { return a->error < b->error; });
    text += fmt::format("{:<11} {:>7} {:>9.1e} {:>11.1e} {:>9.1e}   {}\n", label, tensors.size(),
                        median(errors), medianOwn(tensors), largest->error, largest->name);
  }
  if (report.ties)
    text += "ties        what is far off moves as much when the weights are rounded once more (a "
            "ReLU or a pool at its tie)\n";
  const ComparedTensor *off = firstOff(report);
  text += off ? fmt::format("agrees      no: {} is the first that is off, by {:.2g} of its size "
                            "(PyTorch's float32 by {:.2g})\n",
                            nameOf(*off), off->error, off->own)
              : "agrees      yes\n";
  return text;
}

} // namespace gc::runtime
