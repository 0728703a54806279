//===- Calibrate.cpp - a machine's rates from profiles --------------------===//
//
// An op's seconds are the sum over resources of amount times seconds per unit: linear in the
// seconds per unit. They are fitted to the measured ops by least squares on relative errors, each
// op with the weight that it has in its network's step, the networks with equal weight. Ops that do
// not fit count less from round to round, so that the result is near the smallest sum of absolute
// errors and a few odd kernels do not move it.
//
//===----------------------------------------------------------------------===//
#include "compiler/Calibrate.h"
#include "compiler/Costs.h"
#include "compiler/MakeTarget.h"
#include "compiler/Pipeline.h"
#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/analysis/OpCosts.h"
#include "llvm/ADT/MapVector.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace gc {
namespace {

struct Sample {
  Amounts work;
  double seconds;
  size_t network;
};

double median(std::vector<double> values) {
  llvm::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Adds a network's ops to the samples: an op's seconds are the median over the profiles. Returns
// why that is not possible, or nothing.
std::string addSamples(const ProfiledNetwork &network, const CompileOptions &options, size_t index,
                       std::vector<Sample> &samples, std::string &model, Roofline &ownRates) {
  DialectRegistry registry;
  registerGcDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(network.text, &context);
  MadeTarget made = makeTarget(&context, options);
  if (!made.target)
    return made.error;
  if (std::optional<Roofline> rates = made.target->roofline())
    ownRates = *rates;
  PassManager passes(&context);
  TargetOf target = [&](MLIRContext *) { return made.target; };
  buildTrainPipeline(passes, options, target, /*lean=*/false);
  if (!module || failed(passes.run(*module)))
    return "a network of the calibration does not compile";
  model = module->getSymName().value_or("model").str();
  llvm::MapVector<Operation *, std::vector<double>> measured;
  for (const std::string &profile : network.profiles) {
    if (std::string error = setCosts(*module, profile, {1, options.threads}); !error.empty())
      return error;
    module->walk([&](Operation *op) {
      if (auto seconds = op->getAttrOfType<FloatAttr>("gc.seconds"))
        measured[op].push_back(seconds.getValueAsDouble());
    });
  }
  for (const auto &[op, seconds] : measured)
    samples.push_back({workOf(op), median(seconds), index});
  return "";
}

// Lowers the sum of weight * (work . x - seconds)^2 by adjusting one x after the other; none may
// become negative.
void descend(const std::vector<Sample> &samples, const std::vector<double> &weights, Amounts &x) {
  std::array<Amounts, resourceCount> products = {};
  Amounts right = {};
  for (auto [sample, weight] : llvm::zip(samples, weights))
    for (size_t i = 0; i < resourceCount; ++i) {
      right[i] += weight * sample.work[i] * sample.seconds;
      for (size_t j = 0; j < resourceCount; ++j)
        products[i][j] += weight * sample.work[i] * sample.work[j];
    }
  for (int sweep = 0; sweep < 1000; ++sweep)
    for (size_t i = 1; i < resourceCount; ++i) { // not 0: what a start costs is known
      double rest = right[i];
      for (size_t j = 0; j < resourceCount; ++j)
        rest -= products[i][j] * x[j];
      if (products[i][i] > 0)
        x[i] = std::max(0.0, x[i] + rest / products[i][i]);
    }
}

double predict(const Sample &sample, const Amounts &x) {
  double seconds = 0;
  for (size_t i = 0; i < resourceCount; ++i)
    seconds += sample.work[i] * x[i];
  return seconds;
}

// Seconds per unit of each resource.
Amounts fit(const std::vector<Sample> &samples, const std::vector<double> &stepSeconds,
            const Roofline &defaults) {
  Amounts x;
  for (size_t i = 0; i < resourceCount; ++i)
    x[i] = 1 / defaults.perSecond[i];
  // The smallest ops do nothing but start: updates of biases, mostly.
  std::vector<double> starts;
  for (const Sample &sample : samples)
    if (predict(sample, x) < 2 * x[0])
      starts.push_back(sample.seconds);
  if (!starts.empty())
    x[0] = std::max(median(starts), 1e-9);
  std::vector<double> weights(samples.size());
  for (int round = 0; round < 20; ++round) {
    for (auto [sample, weight] : llvm::zip(samples, weights)) {
      double measured = std::max(sample.seconds, 10 * x[0]);
      double error = std::abs(predict(sample, x) - sample.seconds) / measured;
      weight = 1 / (measured * stepSeconds[sample.network]) / std::max(error, 0.05);
    }
    descend(samples, weights, x);
  }
  return x;
}

} // namespace

Calibration calibrate(const std::vector<ProfiledNetwork> &networks, const CompileOptions &options) {
  Calibration result;
  result.device = options.device;
  Roofline ownRates;
  std::vector<Sample> samples;
  std::vector<double> stepSeconds;
  for (auto [index, network] : llvm::enumerate(networks)) {
    std::string model;
    result.error = addSamples(network, options, index, samples, model, ownRates);
    if (!result.error.empty())
      return result;
    result.fits.push_back({model});
    stepSeconds.push_back(0);
  }
  for (const Sample &sample : samples)
    stepSeconds[sample.network] += sample.seconds;
  Amounts x = fit(samples, stepSeconds, ownRates);
  for (size_t i = 0; i < resourceCount; ++i)
    result.rates.push_back({rateName(i), 1 / std::max(x[i], 1e-15)}); // 0 would be no rate at all
  for (const Sample &sample : samples)
    result.fits[sample.network].predictedSeconds += predict(sample, x);
  for (auto [fit, seconds] : llvm::zip(result.fits, stepSeconds))
    fit.measuredSeconds = seconds;
  return result;
}

std::string Calibration::json(const std::string &machine, int threads) const {
  nlohmann::ordered_json out = {{"machine", machine}, {"device", device}, {"threads", threads}};
  for (const auto &[name, value] : rates)
    out["roofline"][name] = value;
  for (const Fit &fit : fits)
    out["networks"].push_back({{"model", fit.model},
                               {"measured_seconds", fit.measuredSeconds},
                               {"predicted_seconds", fit.predictedSeconds}});
  return out.dump(1) + "\n";
}

} // namespace gc
