#include "runtime/trainer/Verify.h"

#include "runtime/data/OpenData.h"
#include "runtime/plan/GradientCopies.h"
#include "runtime/report/Sizes.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/SessionExecutor.h"

#include <fmt/format.h>

#include <unistd.h>

namespace gc::runtime {
namespace {

const char *roleText(plan::VariableRole role) {
  switch (role) {
  case plan::VariableRole_Parameter:
    return "parameter";
  case plan::VariableRole_RunningStatistic:
    return "running statistic";
  case plan::VariableRole_OptimizerState:
    return "optimizer state";
  case plan::VariableRole_Accumulator:
    return "accumulator";
  case plan::VariableRole_Generator:
    return "generator";
  case plan::VariableRole_Constant:
    return "constant";
  }
  return "variable";
}

/// What the next step, or anybody who looks, can see of the last one. Mapped as long as it lives.
class VisibleState {
public:
  explicit VisibleState(StepExecutor &executor) : executor(executor) {}
  VisibleState(const VisibleState &) = delete;
  ~VisibleState() {
    for (uint32_t buffer : mapped)
      (void)executor.unmap(buffer, /*written=*/false);
  }

  Status read(std::span<const float> losses) {
    for (size_t i = 0; i < losses.size(); ++i)
      tensors.push_back(
          {losses.size() == 1 ? "the loss" : fmt::format("the loss of micro-batch {}", i + 1),
           plan::DType_F32, std::as_bytes(losses.subspan(i, 1))});
    const plan::Plan &plan = executor.plan();
    for (const plan::Variable *variable : *plan.variables())
      if (variable->gradient_buffer() >= 0)
        if (Status done = add(fmt::format("gradient of '{}'", variable->name()->str()),
                              static_cast<uint32_t>(variable->gradient_buffer()));
            !done)
          return done;
    for (const plan::Variable *variable : *plan.variables())
      if (Status done =
              add(fmt::format("{} '{}'", roleText(variable->role()), variable->name()->str()),
                  variable->buffer());
          !done)
        return done;
    return {};
  }

  std::vector<TensorBits> tensors;

private:
  Status add(std::string name, uint32_t index) {
    Result<std::byte *> data = executor.map(index);
    if (!data)
      return data.error();
    mapped.push_back(index);
    const plan::Buffer &buffer = *executor.plan().buffers()->Get(index);
    tensors.push_back({std::move(name), buffer.dtype(), {*data, buffer.bytes()}});
    return {};
  }

  StepExecutor &executor;
  std::vector<uint32_t> mapped;
};

using Observer = std::function<Status(const std::vector<TensorBits> &)>;
/// Asked once, before the arena exists.
using Check = std::function<Status(const plan::Plan &, uint64_t steps)>;

Status runSteps(const PlanFile &asked, const TrainOptions &options, TrainingReport &report,
                const Check &check, const Observer &observe,
                const ChangeVariables &change = nullptr) {
  Result<PlanFile> plan = withGradientCopies(asked);
  if (!plan)
    return plan.error();
  fillPlanFacts(report, plan->get());
  Result<PlanInputs> inputs = findPlanInputs(plan->get());
  if (!inputs)
    return inputs.error();
  Result<DataSource> data = openData(options.dataOptions(), inputs->model, options.schedule.seed);
  if (!data)
    return data.error();
  report.data = data->description;
  report.compileSeconds = options.compileSeconds;
  report.origin = options.origin;
  report.seed = options.schedule.seed;
  if (check)
    if (Status fine = check(plan->get(), options.schedule.steps.value_or(0)); !fine)
      return fine;

  SessionOptions sessionOptions;
  sessionOptions.device = options.device;
  sessionOptions.threads = options.threads;
  Result<std::unique_ptr<Session>> session = Session::create(*plan, sessionOptions);
  if (!session)
    return session.error();
  report.notices = noticesOf(**session, /*told=*/true);
  SessionExecutor executor(**session);
  report.threads = executor.threads();
  Result<std::unique_ptr<Trainer>> trainer =
      Trainer::create(executor, *inputs, *data, options.schedule, /*progress=*/nullptr, report);
  if (!trainer)
    return trainer.error();
  Result<VariableStore> store = VariableStore::create(plan->get(), executor);
  if (!store)
    return store.error();
  if (Status done = store->initialize(options.schedule.seed); !done)
    return done;
  if (!options.load.empty())
    if (Status done = store->load(options.load); !done)
      return done;
  if (change)
    if (Status done = change(plan->get(), executor); !done)
      return done;
  if (Status done = executor.runOnce(); !done)
    return done;

  (*trainer)->afterUpdate = [&](std::span<const float> losses) -> Status {
    VisibleState state(executor);
    if (Status done = state.read(losses); !done)
      return done;
    return observe(state.tensors);
  };
  Status trained = (*trainer)->run();
  fillMemoryUse(report, executor.memoryUse());
  return trained;
}

/// Arena and copies together; a machine that kills the process would give no reason.
Status checkMemory(const plan::Plan &plan, uint64_t steps) {
  uint64_t each = 0;
  for (const plan::Variable *variable : *plan.variables()) {
    each += plan.buffers()->Get(variable->buffer())->bytes();
    if (variable->gradient_buffer() >= 0)
      each += plan.buffers()->Get(static_cast<uint32_t>(variable->gradient_buffer()))->bytes();
  }
  uint64_t machine = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // A GPU's arena is in its own memory, and its device says whether that suffices.
  uint64_t arena = plan.target()->device()->string_view() == "cpu" ? plan.arena_bytes() : 0;
  if (arena >= machine)
    return badInput(fmt::format("without recomputation this step needs {}, and the machine has {}; "
                                "verify with a smaller batch or image",
                                sizeText(arena), sizeText(machine)));
  if (each > 0 && steps > (machine - arena) / each)
    return badInput(fmt::format("--verify keeps what {} steps compute, {} each, beside an arena of "
                                "{}, and the machine has {}; use fewer --steps",
                                steps, sizeText(each), sizeText(arena), sizeText(machine)));
  return {};
}

} // namespace

Result<StateRecord> recordSteps(const PlanFile &plan, const TrainOptions &options,
                                const ChangeVariables &change) {
  StateRecord record;
  TrainingReport report;
  Status done = runSteps(
      plan, options, report, checkMemory,
      [&](const std::vector<TensorBits> &state) -> Status {
        record.add(state);
        return {};
      },
      change);
  if (!done)
    return done.error();
  return record;
}

Status compareSteps(const PlanFile &plan, const TrainOptions &options, const StateRecord &reference,
                    TrainingReport &report) {
  VerifyReport &verify = report.verify.emplace();
  Status done =
      runSteps(plan, options, report, nullptr, [&](const std::vector<TensorBits> &state) -> Status {
        Result<std::optional<Difference>> difference = reference.compare(++verify.steps, state);
        if (!difference)
          return difference.error();
        verify.compared += state.size();
        for (const TensorBits &tensor : state)
          verify.bytes += tensor.bits.size();
        if (!*difference)
          return {};
        verify.difference = differenceText(**difference);
        return runFailed(verify.difference);
      });
  verify.identical = done.ok();
  if (done || !verify.difference.empty())
    return {};
  report.verify.reset(); // the run itself failed: there is no verdict
  return done;
}

} // namespace gc::runtime
