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
#include "compiler/target/ShapeClass.h"
#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/analysis/OpCosts.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace mlir;

namespace gc {
namespace {

struct Sample {
  Amounts work;
  double seconds;
  size_t network;
  size_t number;                                // of the op in its network
  std::string kind;                             // "conv2d"
  std::string shapeClass;                       // of products, else empty
  double flops, bytes;                          // as the op says
  std::optional<bool> byLibrary = std::nullopt; // where the target has two ways to run it
};

using WorkKey = std::tuple<std::string, double, double>; // kind, FLOPs, bytes

// What ran through the library.
std::set<WorkKey> libraryOps(const MeasuredCosts &costs) {
  std::set<WorkKey> found;
  for (const MeasuredCosts::Op &op : costs.ops)
    if (op.isByLibrary())
      found.insert({op.kind, op.flops, op.bytes});
  return found;
}

double median(std::vector<double> values) {
  llvm::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Adds a network's ops to the samples: an op's seconds are the least that were seen, as other work
// on the machine only adds to them. Returns why that is not possible, or nothing.
std::string addSamples(const ProfiledNetwork &network, CompileOptions options, size_t index,
                       std::vector<Sample> &samples, std::string &model, Roofline &ownRates) {
  if (!network.cudaLibrary.empty())
    options.cudaLibrary = network.cudaLibrary;
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
    if (std::string error = setCosts(*module, profile, {1, options.threads, /*fastest=*/true});
        !error.empty())
      return error;
    module->walk([&](Operation *op) {
      if (auto seconds = op->getAttrOfType<FloatAttr>("gc.seconds"))
        measured[op].push_back(seconds.getValueAsDouble());
    });
  }
  MeasuredCosts costs;
  for (const std::string &profile : network.profiles)
    if (std::string error = readCosts(profile, costs); !error.empty())
      return error;
  std::set<WorkKey> ranByLibrary = libraryOps(costs);
  size_t number = 0;
  for (const auto &[op, seconds] : measured) {
    auto cost = cast<CostOpInterface>(op);
    Sample sample{workOf(op),
                  *llvm::min_element(seconds),
                  index,
                  number++,
                  op->getName().stripDialect().str(),
                  "",
                  cost.getFlops(),
                  cost.getBytesMoved()};
    if (std::optional<Target::OpWork> work = made.target->work(op, /*lean=*/false)) {
      sample.work = work->amounts;
      sample.shapeClass = shapeClassOf(op);
      sample.byLibrary = work->byLibrary;
      // A twin may have run instead: then nothing is known of the library's graph.
      if (work->byLibrary != ranByLibrary.contains({sample.kind, sample.flops, sample.bytes}))
        continue;
    }
    // Updates share a start where they are one command.
    if (made.target->joinsUpdates() && isa<UpdateOpInterface>(op))
      sample.work[static_cast<size_t>(Resource::Start)] = 0;
    samples.push_back(std::move(sample));
  }
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
            const Roofline &defaults, std::optional<double> startSeconds) {
  Amounts x;
  for (size_t i = 0; i < resourceCount; ++i)
    x[i] = 1 / defaults.perSecond[i];
  // The smallest ops do nothing but start: updates of biases, mostly.
  std::vector<double> starts;
  for (const Sample &sample : samples)
    if (sample.work[0] > 0 && predict(sample, x) < 2 * x[0])
      starts.push_back(sample.seconds);
  if (startSeconds)
    x[0] = *startSeconds;
  else if (!starts.empty())
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

// Of the ops that were measured more than one way, the faster.
std::vector<Sample> fastest(const std::vector<Sample> &samples) {
  llvm::MapVector<std::pair<size_t, size_t>, const Sample *> best;
  for (const Sample &sample : samples) {
    const Sample *&one = best[{sample.network, sample.number}];
    if (!one || sample.seconds < one->seconds)
      one = &sample;
  }
  std::vector<Sample> result;
  for (const auto &[key, sample] : best)
    result.push_back(*sample);
  return result;
}

// What was measured of ops that can run two ways, by class of products and op.
void describeWays(const std::vector<Sample> &samples, const Amounts &x, Calibration &result) {
  struct Sum {
    size_t count = 0;
    double flops = 0, seconds = 0, predicted = 0;
  };
  std::map<std::pair<std::string, bool>, Sum> classes;
  std::map<std::pair<WorkKey, bool>, Sum> ops;
  for (const Sample &sample : samples) {
    if (!sample.byLibrary)
      continue;
    for (Sum *sum : {&classes[{sample.shapeClass, *sample.byLibrary}],
                     &ops[{{sample.kind, sample.flops, sample.bytes}, *sample.byLibrary}]}) {
      ++sum->count;
      sum->flops += sample.flops;
      sum->seconds += sample.seconds;
      sum->predicted += predict(sample, x);
    }
  }
  for (const auto &[key, sum] : classes)
    if (!key.first.empty() && sum.seconds > 0)
      result.classes.push_back(
          {key.first, key.second, sum.count, sum.flops / sum.seconds, sum.predicted / sum.seconds});
  for (const auto &[key, sum] : ops)
    if (sum.seconds > 0)
      result.ops.push_back({std::get<0>(key.first), std::get<1>(key.first), std::get<2>(key.first),
                            key.second, sum.seconds / double(sum.count)});
}

} // namespace

Calibration calibrate(const std::vector<ProfiledNetwork> &networks, const CompileOptions &options,
                      std::optional<double> startSeconds) {
  Calibration result;
  result.device = options.device;
  Roofline ownRates;
  std::vector<Sample> samples;
  std::vector<double> stepSeconds;
  llvm::StringMap<size_t> indices; // by text
  for (const ProfiledNetwork &network : networks) {
    auto [index, isNew] = indices.try_emplace(network.text, indices.size());
    std::string model;
    result.error = addSamples(network, options, index->second, samples, model, ownRates);
    if (!result.error.empty())
      return result;
    if (!isNew)
      continue;
    result.fits.push_back({model});
    stepSeconds.push_back(0);
  }
  std::vector<Sample> all = std::exchange(samples, fastest(samples));
  for (const Sample &sample : samples)
    stepSeconds[sample.network] += sample.seconds;
  Amounts x = fit(samples, stepSeconds, ownRates, startSeconds);
  describeWays(all, x, result);
  for (size_t i = 0; i < resourceCount; ++i)
    result.rates.push_back({rateName(i), 1 / std::max(x[i], 1e-15)}); // 0 would be no rate at all
  for (const Sample &sample : samples)
    result.fits[sample.network].predictedSeconds += predict(sample, x);
  for (auto [fit, seconds] : llvm::zip(result.fits, stepSeconds))
    fit.measuredSeconds = seconds;
  return result;
}

std::string refuseCalibration(const std::string &text, const std::string &name) {
  MeasuredCosts costs;
  return readRates(text, name, costs);
}

std::string Calibration::json(const std::string &machine, int threads) const {
  nlohmann::ordered_json out = {{"machine", machine}, {"device", device}, {"threads", threads}};
  if (inputBytesPerSecond > 0)
    out["input_bytes_per_second"] = inputBytesPerSecond;
  for (const auto &[name, value] : rates)
    out["roofline"][name] = value;
  for (const Fit &fit : fits)
    out["networks"].push_back({{"model", fit.model},
                               {"measured_seconds", fit.measuredSeconds},
                               {"predicted_seconds", fit.predictedSeconds}});
  auto wayOf = [](bool byLibrary) { return byLibrary ? "library" : "generated"; };
  for (const ProductClass &one : classes)
    out["product_classes"].push_back({{"class", one.name},
                                      {"way", wayOf(one.byLibrary)},
                                      {"ops", one.ops},
                                      {"flops_per_second", one.flopsPerSecond},
                                      {"speed", one.speed}});
  for (const MeasuredOp &op : ops)
    out["measured_ops"].push_back({{"kind", op.kind},
                                   {"flops", op.flops},
                                   {"bytes", op.bytes},
                                   {"way", wayOf(op.byLibrary)},
                                   {"seconds", op.seconds}});
  return out.dump(1) + "\n";
}

} // namespace gc
