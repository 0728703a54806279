// Loss and gradients of whole networks: against the cpu device, with and without recomputation, in
// one micro-batch and in two.
#include "runtime/trainer/Verify.h"
#include "runtime/weights/Philox.h"
#include "tools/selftest/RelativeError.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>

#include <map>

using namespace gc::runtime;

namespace {

bool isCompared(const TensorBits &tensor) {
  return tensor.dtype == gc::plan::DType_F32 &&
         (tensor.name.starts_with("gradient of ") || tensor.name == "the loss");
}

std::map<std::string, std::span<const std::byte>> firstStep(const StateRecord &record) {
  std::map<std::string, std::span<const std::byte>> tensors;
  for (const TensorBits &tensor : record.state(1))
    if (isCompared(tensor))
      tensors[tensor.name] = tensor.bits;
  return tensors;
}

/// Networks are not smooth: where rounding takes a ReLU's input across zero, gradients jump, on the
/// cpu device as on a GPU. So parameters move as far as rounding may, several times: one may miss
/// what another finds.
constexpr int kUnits = 4;
constexpr uint64_t kPerturbations = 8;

/// Every parameter by kUnits units in the last place, up or down.
Result<void> perturb(const gc::plan::Plan &plan, BufferAccess &access, uint64_t seed) {
  uint64_t count = 0;
  Philox generator(seed);
  for (const gc::plan::Variable *variable : *plan.variables()) {
    if (variable->role() != gc::plan::VariableRole_Parameter)
      continue;
    Result<std::byte *> data = access.map(variable->buffer());
    if (!data)
      return data.error();
    auto *values = reinterpret_cast<float *>(*data);
    for (uint64_t i = 0; i < plan.buffers()->Get(variable->buffer())->bytes() / 4; ++i)
      values[i] *= 1 + (generator(count++, 0)[0] & 1 ? kUnits : -kUnits) * 0x1p-23f;
    if (Result<void> done = access.unmap(variable->buffer(), /*written=*/true); !done)
      return done;
  }
  return {};
}

/// A network on the cpu device: what it computes, and how much that moves.
struct Reference {
  StateRecord exact;
  std::map<std::string, double> response; // by tensor, the largest
};

Result<Reference> referenceOf(const SelfTestSetup &setup, const SelfTestNetwork &network) {
  Result<PlanFile> plan = compileNetwork(network, setup.cpuOptions());
  if (!plan)
    return plan.error();
  TrainOptions options = setup.trainOptions("cpu", 1);
  Result<StateRecord> exact = recordSteps(*plan, options);
  if (!exact)
    return exact.error();
  Reference reference{std::move(*exact), {}};
  auto want = firstStep(reference.exact);
  for (uint64_t seed = 1; seed <= kPerturbations; ++seed) {
    Result<StateRecord> moved =
        recordSteps(*plan, options, [&](const gc::plan::Plan &changed, BufferAccess &access) {
          return perturb(changed, access, seed);
        });
    if (!moved)
      return moved.error();
    for (const auto &[tensor, values] : firstStep(*moved)) {
      double &largest = reference.response[tensor];
      largest = std::fmax(largest, relativeError(values, want[tensor]));
    }
  }
  return reference;
}

/// In several micro-batches each has a loss of its own: then only gradients are compared.
void compare(const std::string &name, const StateRecord &record, const Reference &reference,
             Findings &findings) {
  auto got = firstStep(record), want = firstStep(reference.exact);
  Findings::Json tensors = Findings::Json::array();
  std::string worst;
  double worstError = 0, worstBound = 1;
  size_t failures = 0, rounding = 0;
  for (const auto &[tensor, values] : want) {
    if (tensor == "the loss" && !got.contains(tensor))
      continue;
    double bound = errorBound(reference.response.at(tensor), kUnits);
    double error = got.contains(tensor) ? relativeError(got[tensor], values) : INFINITY;
    tensors.push_back({{"name", tensor}, {"error", error}, {"bound", bound}});
    failures += !(error <= bound);
    // What would be zero without rounding: its bound is told, and says little.
    if (bound >= 1 && error <= bound) {
      ++rounding;
      continue;
    }
    if (worst.empty() || error / bound > worstError / worstBound)
      worst = tensor, worstError = error, worstBound = bound;
  }
  findings.judge(failures == 0 && rounding < tensors.size(), name,
                 fmt::format("{} tensors, {} of them nothing but rounding, {} beyond their bound; "
                             "worst {}: error {:.2g}, bound {:.2g}",
                             tensors.size(), rounding, failures, worst, worstError, worstBound),
                 {{"tensors", tensors}});
}

class NetworkTest {
public:
  NetworkTest(const SelfTestSetup &setup, const SelfTestNetwork &network, Findings &findings)
      : setup(setup), network(network), findings(findings) {}

  void run() {
    Result<Reference> made = referenceOf(setup, network);
    if (!made)
      return findings.failed(network.name + ".cpu", made.error().message);
    reference = &*made;
    if (std::optional<StateRecord> record = against("generated", setup.cudaOptions()))
      recomputed("generated", setup.cudaOptions(), *record);
    if (network.hasBatchNorm)
      findings.skipped(network.name + ".accumulated",
                       "batch statistics are of a micro-batch, so its gradients differ");
    else {
      gc::CompileOptions options = setup.cudaOptions();
      options.accumulate = 2;
      against("accumulated", options);
    }
    if (!setup.whyNoLibrary.empty())
      return findings.skipped(network.name + ".cudnn", setup.whyNoLibrary);
    if (std::optional<StateRecord> record = against("cudnn", setup.cudaOptions("cudnn")))
      recomputed("cudnn", setup.cudaOptions("cudnn"), *record);
  }

private:
  std::optional<StateRecord> against(const std::string &variant,
                                     const gc::CompileOptions &options) {
    std::string name = network.name + "." + variant;
    Result<PlanFile> plan = compileNetwork(network, options);
    Result<StateRecord> record =
        plan ? recordSteps(*plan, setup.trainOptions(setup.device, 1)) : plan.error();
    if (!record) {
      findings.failed(name, record.error().message);
      return std::nullopt;
    }
    compare(name, *record, *reference, findings);
    return std::move(*record);
  }

  void recomputed(const std::string &variant, gc::CompileOptions options,
                  const StateRecord &record) {
    std::string name = network.name + "." + variant + "-recomputed";
    options.remat = "all";
    Result<PlanFile> plan = compileNetwork(network, options);
    TrainingReport report;
    Result<void> done =
        plan ? compareSteps(*plan, setup.trainOptions(setup.device, 1), record, report)
             : Result<void>(plan.error());
    if (!done)
      return findings.failed(name, done.error().message);
    const VerifyReport &verify = *report.verify;
    findings.judge(verify.identical, name,
                   verify.identical
                       ? fmt::format("{} values recomputed, {} tensors equal in every bit",
                                     report.remat.recomputed, verify.compared)
                       : verify.difference);
  }

  const SelfTestSetup &setup;
  const SelfTestNetwork &network;
  Findings &findings;
  const Reference *reference = nullptr;
};

} // namespace

void testGradients(const SelfTestSetup &setup, Findings &findings) {
  findings.section("gradients", "loss and gradients of one step, against the cpu device");
  for (const SelfTestNetwork &network : setup.networks)
    NetworkTest(setup, network, findings).run();
}
