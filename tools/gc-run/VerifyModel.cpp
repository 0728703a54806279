#include "tools/gc-run/VerifyModel.h"

#include "runtime/report/Sizes.h"
#include "runtime/trainer/ConsoleText.h"
#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/Verify.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-run/LoadModel.h"

#include <fmt/format.h>

using namespace gc::runtime;

static void print(const char *label, const std::string &text) {
  fmt::print("{:<11} {}\n", label, text);
  std::fflush(stdout);
}

static void printAsked(const PlanFile &asked, const PlanFile &reference,
                       const TrainOptions &options) {
  TrainingReport facts;
  fillPlanFacts(facts, asked.get());
  print("model", fmt::format("{}, {}", facts.model, parametersText(facts)));
  std::string batch = fmt::format("batch {}", facts.batch);
  if (facts.microBatches > 1)
    batch += fmt::format(" in {} micro-batches", facts.microBatches);
  print("verifying", fmt::format("{} steps, {}, {}, seed {}, data {}", *options.schedule.steps,
                                 batch, facts.optimizer, options.schedule.seed, options.data));
  print("remat", rematText(facts.remat));
  if (facts.remat.recomputed == 0)
    print("", "note: this plan recomputes nothing; it is compared all the same");
  print("plan peak", sizeText(asked->arena_bytes()));
  print("", fmt::format("without recomputation {}", sizeText(reference->arena_bytes())));
}

Status verifyModel(Arguments &a) {
  Result<std::string> text = readModelFile(a.model);
  if (!text)
    return text.error();
  if (isPlan(*text))
    return badInput(
        fmt::format("--verify needs the model, to compile it without recomputation too; "
                    "'{}' is a finished plan",
                    displayName(a.model)));
  Result<PlanFile> asked = compilePlan(*text, a);
  if (!asked)
    return asked.error();
  gc::CompileOptions plain = a.compile;
  plain.remat = "none";
  plain.budgetBytes = 0;
  plain.costs.clear();
  plain.accumulateAuto = false;
  plain.accumulate = (*asked)->micro_batches();
  // Parts of the batch add up gradients in an order of their own, so both plans have the same.
  TrainingReport facts;
  fillPlanFacts(facts, asked->get());
  plain.split = {false, facts.split.parts, facts.split.chains};
  Result<CompiledModel> compiled = compileText(*text, a.model, plain, /*showWarnings=*/false);
  if (!compiled)
    return compiled.error();
  Result<PlanFile> reference =
      PlanFile::fromMemory(std::as_bytes(std::span(compiled->result.plan)), a.model);
  if (!reference)
    return reference.error();

  printAsked(*asked, *reference, a.train);
  Result<StateRecord> record = recordSteps(*reference, a.train);
  if (!record)
    return record.error();
  TrainingReport report;
  Status compared = compareSteps(*asked, a.train, *record, report);
  if (!a.train.report.empty())
    if (Status written = writeReport(a.train.report, report); !written)
      return written;
  if (!compared)
    return compared;
  const VerifyReport &verify = *report.verify;
  print("compared",
        fmt::format("loss, gradients and variables after each of {} steps: {} tensors, {}",
                    verify.steps, countText(verify.compared), sizeText(verify.bytes)));
  print("identical", verify.identical ? "yes, every bit" : "no");
  if (!verify.identical)
    return runFailed(verify.difference);
  return {};
}
