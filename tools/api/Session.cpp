#include "api/Session.h"

#include "runtime/trainer/PlanInputs.h"
#include "runtime/trainer/SessionExecutor.h"
#include "runtime/weights/VariableStore.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace gc {

using runtime::badInput;
using runtime::Result;
using runtime::Status;

Result<runtime::PlanFile> compile(const std::string &model, const CompileOptions &options) {
  CompileResult compiled = compileModel(model, "model", options);
  if (compiled.exitCode != 0)
    return runtime::Error{static_cast<runtime::ErrorClass>(compiled.exitCode), compiled.error};
  return runtime::PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)));
}

// What each member refers to stands before it.
struct Session::State {
  explicit State(runtime::PlanFile plan) : plan(std::move(plan)) {}
  runtime::PlanFile plan;
  runtime::PlanInputs inputs;
  std::unique_ptr<runtime::Session> session;
  std::optional<runtime::SessionExecutor> executor;
  std::optional<runtime::VariableStore> store;

  Status check(std::span<const float> samples, std::span<const int32_t> labels) const;
  template <typename Run>
  Result<StepResult> eachMicroBatch(std::span<const float> samples, std::span<const int32_t> labels,
                                    Run run);
  /// One micro-batch's part of the samples, to the first slot.
  Status fill(std::span<const float> samples, std::span<const int32_t> labels, int64_t micro);
};

Session::Session(std::unique_ptr<State> state) : state(std::move(state)) {}
Session::~Session() = default;
Session::Session(Session &&) noexcept = default;

Result<Session> Session::create(runtime::PlanFile plan, const SessionSettings &settings) {
  auto state = std::make_unique<State>(std::move(plan));
  Result<runtime::PlanInputs> inputs = runtime::findPlanInputs(*state->plan);
  if (!inputs)
    return inputs.error();
  state->inputs = std::move(*inputs);
  if (state->inputs.model.isTokens || !state->inputs.model.labelShape.empty() ||
      state->inputs.share)
    return badInput("gc::Session takes samples of numbers and a label each; this plan takes "
                    "tokens, or several labels a sample");
  runtime::SessionOptions options;
  options.device = settings.device;
  options.threads = settings.threads;
  auto session = runtime::Session::create(state->plan, options);
  if (!session)
    return session.error();
  state->session = std::move(*session);
  state->executor.emplace(*state->session);
  auto store = runtime::VariableStore::create(*state->plan, *state->executor);
  if (!store)
    return store.error();
  state->store.emplace(std::move(*store));
  if (Status done = state->store->initialize(settings.seed); !done)
    return done.error();
  if (!settings.weights.empty())
    if (Status done = state->store->load(settings.weights); !done)
      return done.error();
  if (Status done = state->session->runOnce(); !done)
    return done.error();
  return Session(std::move(state));
}

int64_t Session::batch() const { return state->plan->batch(); }
int64_t Session::sampleElements() const { return state->inputs.model.sampleElements(); }

Status Session::State::check(std::span<const float> samples,
                             std::span<const int32_t> labels) const {
  auto batch = static_cast<size_t>(plan->batch());
  size_t elements = batch * static_cast<size_t>(inputs.model.sampleElements());
  if (samples.size() != elements || labels.size() != batch)
    return badInput(fmt::format("a step takes {} numbers, {} samples of {}, and as many labels; "
                                "got {} and {}",
                                elements, batch, inputs.model.sampleElements(), samples.size(),
                                labels.size()));
  for (size_t i = 0; i < labels.size(); ++i)
    if (int64_t classes = inputs.model.classes;
        classes > 0 && (labels[i] < 0 || labels[i] >= classes))
      return badInput(fmt::format("sample {} has label {}, the model has classes 0 to {}", i,
                                  labels[i], classes - 1));
  return {};
}

Status Session::State::fill(std::span<const float> samples, std::span<const int32_t> labels,
                            int64_t micro) {
  auto image = executor->inputSlot(inputs.image, 0), label = executor->inputSlot(inputs.label, 0);
  if (!image || !label)
    return !image ? image.error() : label.error();
  auto count = static_cast<size_t>(inputs.microBatch);
  auto part = samples.subspan(static_cast<size_t>(micro) * samples.size() * count / labels.size(),
                              samples.size() * count / labels.size());
  std::memcpy(*image, part.data(), part.size_bytes());
  for (size_t i = 0; i < count; ++i) {
    int32_t own = labels[static_cast<size_t>(micro) * count + i];
    int64_t wide = own;
    if (inputs.labelType == runtime::LabelType::I64)
      std::memcpy(*label + i * sizeof wide, &wide, sizeof wide);
    else
      std::memcpy(*label + i * sizeof own, &own, sizeof own);
  }
  return {};
}

/// Runs the batch, micro-batch by micro-batch. `run` computes one from input slot 0 and answers its
/// metrics.
template <typename Run>
Result<StepResult> Session::State::eachMicroBatch(std::span<const float> samples,
                                                  std::span<const int32_t> labels, Run run) {
  if (Status fine = check(samples, labels); !fine)
    return fine.error();
  StepResult result;
  int64_t count = plan->micro_batches();
  for (int64_t micro = 0; micro < count; ++micro) {
    if (Status filled = fill(samples, labels, micro); !filled)
      return filled.error();
    Result<runtime::Metrics> metrics = run();
    if (!metrics)
      return metrics.error();
    result.loss += metrics->loss / static_cast<double>(count);
    result.correct += metrics->correct;
  }
  return result;
}

Result<StepResult> Session::step(std::span<const float> samples, std::span<const int32_t> labels) {
  runtime::Session &session = *state->session;
  auto result = state->eachMicroBatch(samples, labels, [&]() -> Result<runtime::Metrics> {
    if (Status done = session.runMicroBatch(0); !done)
      return done.error();
    return session.metrics();
  });
  if (result)
    if (Status done = session.finishStep(); !done)
      return done.error();
  return result;
}

Result<StepResult> Session::evaluate(std::span<const float> samples,
                                     std::span<const int32_t> labels) {
  runtime::Session &session = *state->session;
  return state->eachMicroBatch(samples, labels, [&]() -> Result<runtime::Metrics> {
    if (Status done = session.evaluateMicroBatch(0); !done)
      return done.error();
    return session.evaluateMetrics();
  });
}

Status Session::save(const std::string &path) { return state->store->save(path); }
Status Session::load(const std::string &path) { return state->store->load(path); }

} // namespace gc
