// A step taken op by op with generated kernels. Before each op its operands are copied to another
// plan of the same network, which computes the op its own way: oneDNN on the cpu device, a cuDNN
// graph. So every kernel and every library graph meets the data of a real step, and a wrong one is
// named.
#include "tools/selftest/PlanStepper.h"
#include "tools/selftest/RelativeError.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>

#include <cmath>

using namespace gc::runtime;

namespace {

using Bytes = std::vector<std::byte>;

struct OpResult {
  double error = 0, bound = 1; // of the output that is worst
  std::string output;
  double seconds = 0, otherSeconds = 0;
  bool isFine() const { return std::isfinite(error) && error <= bound; }
};

void moveByOneUnit(Bytes &bytes, uint64_t seed) {
  auto *values = reinterpret_cast<float *>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    if (values[i] != 0)
      values[i] = std::nextafter(values[i], seed >> 63 ? INFINITY : -INFINITY);
  }
}

class TwinStep {
public:
  TwinStep(PlanStepper &step, PlanStepper &other, int repetitions)
      : step(step), other(other), repetitions(repetitions) {
    for (const PlanStepper::Op &op : other.ops())
      twins[op.name] = &op;
  }

  const PlanStepper::Op *twinOf(const PlanStepper::Op &op) const {
    auto found = twins.find(op.name);
    return found == twins.end() ? nullptr : found->second;
  }

  /// Runs the op in the step, and its twin on the same operands.
  Result<OpResult> run(const PlanStepper::Op &op, const PlanStepper::Op &twin) {
    std::map<std::string, uint32_t> mine;
    for (uint32_t buffer : op.reads)
      mine[step.label(buffer)] = buffer;
    std::vector<std::pair<uint32_t, Bytes>> operands;
    for (uint32_t buffer : twin.reads) {
      auto found = mine.find(other.label(buffer));
      if (found == mine.end())
        return runFailed(
            fmt::format("it does not read '{}', and its twin does", other.label(buffer)));
      Result<Bytes> bytes = step.read(found->second);
      if (!bytes)
        return bytes.error();
      operands.emplace_back(buffer, std::move(*bytes));
    }
    OpResult result;
    Result<double> seconds = step.run(op);
    if (!seconds)
      return seconds.error();
    Result<Outputs> exact = runTwin(twin, operands, &result.otherSeconds);
    if (!exact)
      return exact.error();
    for (auto &[buffer, bytes] : operands)
      if (other.buffer(buffer).dtype() == gc::plan::DType_F32)
        moveByOneUnit(bytes, buffer);
    Result<Outputs> moved = runTwin(twin, operands, nullptr);
    if (!moved)
      return moved.error();

    Outputs computed;
    for (uint32_t buffer : op.writes) {
      Result<Bytes> bytes = step.read(buffer);
      if (!bytes)
        return bytes.error();
      computed[step.label(buffer)] = std::move(*bytes);
    }
    if (Status done = judge(computed, *exact, *moved, result); !done)
      return done.error();
    if (Status done = time(op, computed, result); !done)
      return done.error();
    return result;
  }

private:
  using Outputs = std::map<std::string, Bytes>; // by label

  Result<Outputs> runTwin(const PlanStepper::Op &twin,
                          const std::vector<std::pair<uint32_t, Bytes>> &operands,
                          double *seconds) {
    Outputs outputs;
    for (int i = 0; i < (seconds ? repetitions : 1); ++i) {
      for (const auto &[buffer, bytes] : operands)
        if (Status done = other.write(buffer, bytes); !done)
          return done.error();
      Result<double> took = other.run(twin);
      if (!took)
        return took.error();
      if (seconds)
        *seconds = i == 0 ? *took : std::min(*seconds, *took);
    }
    for (uint32_t buffer : twin.writes) {
      Result<Bytes> bytes = other.read(buffer);
      if (!bytes)
        return bytes.error();
      outputs[other.label(buffer)] = std::move(*bytes);
    }
    return outputs;
  }

  Status judge(const Outputs &computed, const Outputs &exact, const Outputs &moved,
               OpResult &result) {
    bool any = false;
    for (const auto &[name, bytes] : computed) {
      auto want = exact.find(name);
      if (want == exact.end())
        continue; // kept by one of them only, for its own backward kernels
      double bound = errorBound(relativeError(moved.at(name), want->second));
      double error = relativeError(bytes, want->second);
      if (!any || error / bound > result.error / result.bound)
        result.output = name, result.error = error, result.bound = bound;
      any = true;
    }
    if (!any)
      return runFailed("it writes nothing that its twin writes");
    return {};
  }

  /// Again for the time, then everything as it was.
  Status time(const PlanStepper::Op &op, const Outputs &computed, OpResult &result) {
    Result<double> took = step.run(op, repetitions);
    if (!took)
      return took.error();
    result.seconds = *took;
    for (uint32_t buffer : op.writes)
      if (Status done = step.write(buffer, computed.at(step.label(buffer))); !done)
        return done;
    return {};
  }

  PlanStepper &step, &other;
  int repetitions;
  std::map<std::string, const PlanStepper::Op *> twins;
};

/// What the ops of one network came to.
struct Tally {
  size_t compared = 0, failures = 0;
  std::vector<std::string> apart; // ops without a twin
  std::string worst;
  OpResult worstResult;
  double seconds = 0, otherSeconds = 0;
  CaseReporter::Json ops = CaseReporter::Json::array();

  void add(const std::string &op, const OpResult &result) {
    ++compared;
    failures += !result.isFine();
    seconds += result.seconds, otherSeconds += result.otherSeconds;
    if (worst.empty() || result.error / result.bound > worstResult.error / worstResult.bound)
      worst = op, worstResult = result;
    ops.push_back({{"name", op},
                   {"output", result.output},
                   {"error", result.error},
                   {"bound", result.bound},
                   {"microseconds", 1e6 * result.seconds},
                   {"microseconds_of_twin", 1e6 * result.otherSeconds}});
  }
};

Result<std::unique_ptr<PlanStepper>>
open(const SelfTestSetup &setup, const SelfTestNetwork &network, const std::string &variant) {
  Result<PlanFile> plan = sharedPlan(setup, network, variant);
  if (!plan)
    return plan.error();
  return PlanStepper::create(std::move(*plan), variant == "cpu" ? "cpu" : setup.device,
                             setup.threads);
}

Result<Tally> stepThrough(PlanStepper &step, PlanStepper &other, bool libraryOnly, int repetitions,
                          CaseReporter &report) {
  for (PlanStepper *stepper : {&other, &step})
    if (Status done = stepper->begin(/*seed=*/1); !done)
      return done.error();
  TwinStep twins(step, other, repetitions);
  Tally tally;
  for (const PlanStepper::Op &op : step.ops()) {
    report.doing("op " + op.name);
    const PlanStepper::Op *twin = twins.twinOf(op);
    if (!twin || (libraryOnly && !twin->usesLibrary)) {
      if (!twin)
        tally.apart.push_back(op.name);
      if (Result<double> done = step.run(op); !done)
        return done.error();
      continue;
    }
    Result<OpResult> result = twins.run(op, *twin);
    if (!result) {
      Error error = result.error();
      error.message = fmt::format("op '{}': {}", op.name, error.message);
      return error;
    }
    tally.add(op.name, *result);
  }
  return tally;
}

void testTwins(const SelfTestSetup &setup, const SelfTestNetwork &network,
               const std::string &variant, const std::string &name, CaseReporter &report) {
  report.doing("preparing both plans");
  auto step = open(setup, network, "generated");
  if (!step)
    return report.failed(name, step.error().message);
  auto other = open(setup, network, variant);
  if (!other)
    return report.failed(name, other.error().message);
  Result<Tally> tally =
      stepThrough(**step, **other, variant == "cudnn", setup.quick ? 1 : 5, report);
  if (!tally)
    return report.failed(name, tally.error().message);
  const OpResult &worst = tally->worstResult;
  std::string text =
      fmt::format("{} ops, {} beyond their bound, {} without a twin; worst {} ({}): error {:.2g}, "
                  "bound {:.2g}; "
                  "{:.0f} us, twins {:.0f} us",
                  tally->compared, tally->failures, tally->apart.size(), tally->worst, worst.output,
                  worst.error, worst.bound, 1e6 * tally->seconds, 1e6 * tally->otherSeconds);
  report.judge(tally->failures == 0 && tally->compared > 0, name, text,
               {{"ops", tally->ops}, {"without_twin", tally->apart}});
}

} // namespace

void testOps(const SelfTestSetup &setup, CaseRunner &cases) {
  cases.findings.section("ops", "each op with generated kernels, against the cpu device and cuDNN");
  for (const SelfTestNetwork &network : setup.networks)
    for (std::string variant : {"cpu", "cudnn"}) {
      std::string name = network.name + "." + variant;
      if (variant == "cudnn" && !setup.whyNoLibrary.empty())
        cases.findings.skipped(name, setup.whyNoLibrary);
      else
        cases.run(name,
                  [&](CaseReporter &report) { testTwins(setup, network, variant, name, report); });
    }
}
