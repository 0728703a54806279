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
Status perturb(const gc::plan::Plan &plan, BufferAccess &access, uint64_t seed) {
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
    if (Status done = access.unmap(variable->buffer(), /*written=*/true); !done)
      return done;
  }
  return {};
}

/// A network on the cpu device: what it computes, and how much that moves.
struct Reference {
  struct Tensor {
    std::vector<std::byte> values;
    double response = 0; // the largest
  };
  std::map<std::string, Tensor> tensors;

  std::string bytes() const {
    nlohmann::json all;
    for (const auto &[name, tensor] : tensors) {
      const auto *data = reinterpret_cast<const uint8_t *>(tensor.values.data());
      std::vector<uint8_t> values(data, data + tensor.values.size());
      all[name] = {{"values", nlohmann::json::binary(std::move(values))},
                   {"response", tensor.response}};
    }
    std::string out;
    nlohmann::json::to_cbor(all, out);
    return out;
  }
  static Result<Reference> from(const std::string &bytes) {
    auto all = nlohmann::json::from_cbor(bytes, /*strict=*/true, /*allow_exceptions=*/false);
    if (!all.is_object())
      return runFailed("what the cpu device computed is not there: its case failed");
    Reference reference;
    for (const auto &[name, tensor] : all.items()) {
      const auto &values = tensor["values"].get_binary();
      auto *data = reinterpret_cast<const std::byte *>(values.data());
      reference.tensors[name] = {{data, data + values.size()}, tensor["response"].get<double>()};
    }
    return reference;
  }
};

Result<Reference> referenceOf(const SelfTestSetup &setup, const SelfTestNetwork &network) {
  Result<PlanFile> plan = sharedPlan(setup, network, "cpu");
  if (!plan)
    return plan.error();
  TrainOptions options = setup.trainOptions("cpu", 1);
  Result<StateRecord> exact = recordSteps(*plan, options);
  if (!exact)
    return exact.error();
  Reference reference;
  for (const auto &[tensor, values] : firstStep(*exact))
    reference.tensors[tensor].values.assign(values.begin(), values.end());
  for (uint64_t seed = 1; seed <= kPerturbations; ++seed) {
    Result<StateRecord> moved =
        recordSteps(*plan, options, [&](const gc::plan::Plan &changed, BufferAccess &access) {
          return perturb(changed, access, seed);
        });
    if (!moved)
      return moved.error();
    for (const auto &[tensor, values] : firstStep(*moved)) {
      Reference::Tensor &exactly = reference.tensors[tensor];
      exactly.response = std::fmax(exactly.response, relativeError(values, exactly.values));
    }
  }
  return reference;
}

/// In several micro-batches each has a loss of its own: then only gradients are compared.
void compare(const std::string &name, const StateRecord &record, const Reference &reference,
             CaseReporter &report) {
  auto got = firstStep(record);
  auto tensors = CaseReporter::Json::array();
  std::string worst;
  double worstError = 0, worstBound = 1;
  size_t failures = 0, rounding = 0;
  for (const auto &[tensor, want] : reference.tensors) {
    if (tensor == "the loss" && !got.contains(tensor))
      continue;
    double bound = errorBound(want.response, kUnits);
    double error = got.contains(tensor) ? relativeError(got[tensor], want.values) : INFINITY;
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
  report.judge(failures == 0 && rounding < tensors.size(), name,
               fmt::format("{} tensors, {} of them nothing but rounding, {} beyond their bound; "
                           "worst {}: error {:.2g}, bound {:.2g}",
                           tensors.size(), rounding, failures, worst, worstError, worstBound),
               {{"tensors", tensors}});
}

/// One step on the GPU against the cpu device's.
void testVariant(const SelfTestSetup &setup, const SelfTestNetwork &network,
                 const std::string &name, const Result<PlanFile> &plan, CaseReporter &report) {
  // The case that leaves it may not be among those to run.
  report.doing("a step on the cpu device");
  std::string kept = setup.files.read(network.name + ".reference");
  Result<Reference> reference = kept.empty() ? referenceOf(setup, network) : Reference::from(kept);
  if (!reference)
    return report.failed(name, reference.error().message);
  if (!plan)
    return report.failed(name, plan.error().message);
  report.doing("a step");
  Result<StateRecord> record = recordSteps(*plan, setup.trainOptions(setup.device, 1));
  if (!record)
    return report.failed(name, record.error().message);
  compare(name, *record, *reference, report);
}

/// The same step with all recomputation, equal in every bit.
void testRecomputed(const SelfTestSetup &setup, const SelfTestNetwork &network,
                    const std::string &variant, const std::string &name, CaseReporter &report) {
  Result<PlanFile> plain = sharedPlan(setup, network, variant);
  gc::CompileOptions options = setup.cudaOptions(variant == "cudnn" ? "cudnn" : "none");
  options.remat = "all";
  Result<PlanFile> plan = plain ? compileNetwork(network, options) : plain.error();
  if (!plan)
    return report.failed(name, plan.error().message);
  report.doing("a step without recomputation");
  TrainOptions training = setup.trainOptions(setup.device, 1);
  Result<StateRecord> record = recordSteps(*plain, training);
  if (!record)
    return report.failed(name, record.error().message);
  report.doing("a step with recomputation");
  TrainingReport trained;
  if (Status done = compareSteps(*plan, training, *record, trained); !done)
    return report.failed(name, done.error().message);
  const VerifyReport &verify = *trained.verify;
  report.judge(verify.identical, name,
               verify.identical ? fmt::format("{} values recomputed, {} tensors equal in every bit",
                                              trained.remat.recomputed, verify.compared)
                                : verify.difference);
}

void testNetwork(const SelfTestSetup &setup, const SelfTestNetwork &network, CaseRunner &cases) {
  auto name = [&](const std::string &variant) { return network.name + "." + variant; };
  cases.run(name("reference"), [&](CaseReporter &report) {
    Result<Reference> made = referenceOf(setup, network);
    if (!made)
      return report.failed(name("reference"), made.error().message);
    if (!setup.files.write(name("reference"), made->bytes()))
      return report.failed(name("reference"), "there is no memory to keep it");
    report.passed(name("reference"),
                  fmt::format("{} tensors of the cpu device", made->tensors.size()));
  });
  auto testBoth = [&](const std::string &variant) {
    cases.run(name(variant), [&](CaseReporter &report) {
      testVariant(setup, network, name(variant), sharedPlan(setup, network, variant), report);
    });
    std::string recomputed = name(variant) + "-recomputed";
    cases.run(recomputed, [&](CaseReporter &report) {
      testRecomputed(setup, network, variant, recomputed, report);
    });
  };
  testBoth("generated");
  if (network.hasBatchNorm)
    cases.findings.skipped(name("accumulated"),
                           "batch statistics are of a micro-batch, so its gradients differ");
  else
    cases.run(name("accumulated"), [&](CaseReporter &report) {
      gc::CompileOptions options = setup.cudaOptions();
      options.accumulate = 2;
      testVariant(setup, network, name("accumulated"), compileNetwork(network, options), report);
    });
  if (setup.whyNoLibrary.empty())
    testBoth("cudnn");
  else
    cases.findings.skipped(name("cudnn"), setup.whyNoLibrary);
}

} // namespace

void testGradients(const SelfTestSetup &setup, CaseRunner &cases) {
  cases.findings.section("gradients", "loss and gradients of one step, against the cpu device");
  for (const SelfTestNetwork &network : setup.networks)
    testNetwork(setup, network, cases);
}
