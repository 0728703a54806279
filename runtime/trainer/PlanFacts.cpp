#include "runtime/trainer/PlanFacts.h"

#include "runtime/plan/ElementType.h"
#include "runtime/plan/Plan_generated.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace gc::runtime {

using nlohmann::json;

static int64_t elementsOf(const plan::Variable &variable) {
  int64_t elements = 1;
  for (size_t i = 0; variable.file_shape() && i < variable.file_shape()->size(); ++i)
    elements *= variable.file_shape()->Get(i);
  return elements;
}

/// A section of the compiler's report; empty where the report has none.
static json sectionOf(const json &report, const char *key) {
  if (!report.is_object() || !report.contains(key) || !report[key].is_object())
    return json::object();
  return report[key];
}

static void takePrediction(PredictionReport &prediction, const json &report) {
  const json from = sectionOf(report, "prediction");
  if (from.contains("step_seconds") && from["step_seconds"].is_number())
    prediction.stepSeconds = from["step_seconds"].get<double>();
  if (from.contains("rates_from") && from["rates_from"].is_string())
    prediction.ratesFrom = from["rates_from"].get<std::string>();
}

/// The compiler's own account of what it recomputes; a plan without one recomputes nothing.
static void takeRemat(RematReport &remat, const json &report) {
  const json from = sectionOf(report, "remat");
  auto number = [&](const char *key) -> std::optional<double> {
    auto found = from.find(key);
    if (found == from.end() || !found->is_number())
      return std::nullopt;
    return found->get<double>();
  };
  if (from.contains("policy") && from["policy"].is_string())
    remat.policy = from["policy"].get<std::string>();
  if (auto bytes = number("budget_bytes"); bytes && *bytes > 0)
    remat.budgetBytes = static_cast<uint64_t>(*bytes);
  remat.retained = static_cast<uint64_t>(number("retained").value_or(0));
  remat.recomputed = static_cast<uint64_t>(number("recomputed").value_or(0));
  remat.recomputeSecondsPredicted = number("recompute_seconds_predicted").value_or(0);
  remat.recomputeFraction = number("recompute_fraction").value_or(0);
  remat.timeLowerBound = number("time_lower_bound");
  remat.gap = number("gap");
}

static void takeSplit(SplitReport &split, const json &report) {
  const json from = sectionOf(report, "split");
  if (from.contains("parts") && from["parts"].is_number_integer())
    split.parts = from["parts"].get<int64_t>();
  if (from.contains("chains") && from["chains"].is_string())
    split.chains = from["chains"].get<std::string>();
}

/// In which types the commands of `list` multiply, added to `types`.
static void addProducts(std::set<std::string_view> &types, const plan::CommandList *list) {
  for (uint32_t i = 0; list && list->commands() && i < list->commands()->size(); ++i) {
    const plan::Command &command = *list->commands()->Get(i);
    if (const plan::Convolution *convolution = command.operation_as_Convolution())
      types.insert(elementTypeOf(convolution->spec()->type())->mlir);
    if (const plan::MatMul *product = command.operation_as_MatMul())
      types.insert(elementTypeOf(product->spec()->type())->mlir);
  }
}

/// What the plan computes and keeps in which type.
static void takePrecision(TrainingReport &report, const plan::Plan &plan) {
  std::set<std::string_view> products, saved;
  addProducts(products, plan.micro_batch());
  uint64_t masterBytes = 0;
  for (size_t i = 0; plan.buffers() && i < plan.buffers()->size(); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    const bool isFloat = buffer.dtype() == plan::DType_F32 || buffer.dtype() == plan::DType_BF16;
    if (buffer.kind() == plan::BufferKind_Activation && isFloat && !buffer.evaluate())
      saved.insert(elementTypeOf(buffer.dtype())->mlir);
    if (buffer.kind() == plan::BufferKind_Parameter)
      masterBytes += buffer.bytes();
  }
  // The sums among them are f32 in any precision.
  auto narrowest = [](const std::set<std::string_view> &types) {
    return types.contains("bf16") ? "bf16" : "f32";
  };
  report.precision = {narrowest(products), narrowest(saved), "f32"};
  report.memory.masterBytes = report.precision.products == "f32" ? 0 : masterBytes;
}

std::string optimizerText(const plan::Plan &plan, std::optional<double> lr) {
  const plan::Optimizer *o = plan.optimizer();
  if (!o)
    return "";
  std::string text = fmt::format("{} lr {}", o->name()->string_view(), lr.value_or(o->lr()));
  if (o->momentum() != 0)
    text += fmt::format(" momentum {}{}", o->momentum(), o->nesterov() ? " (nesterov)" : "");
  if (o->dampening() != 0)
    text += fmt::format(" dampening {}", o->dampening());
  const plan::OptimizerT usual;
  if (o->beta1() != usual.beta1 || o->beta2() != usual.beta2)
    text += fmt::format(" betas {} {}", o->beta1(), o->beta2());
  if (o->epsilon() != usual.epsilon)
    text += fmt::format(" epsilon {}", o->epsilon());
  if (o->alpha() != usual.alpha)
    text += fmt::format(" alpha {}", o->alpha());
  if (o->centered())
    text += " centered";
  if (o->beta2_decay() != usual.beta2_decay)
    text += fmt::format(" beta2 decay {}", o->beta2_decay());
  if (o->epsilon2() != usual.epsilon2)
    text += fmt::format(" epsilon2 {}", o->epsilon2());
  if (o->clip_update() != usual.clip_update)
    text += fmt::format(" update clipped at {}", o->clip_update());
  if (o->weight_decay() != 0)
    text += fmt::format(" weight decay {}", o->weight_decay());
  auto given = [](const flatbuffers::String *patterns) { return patterns && patterns->size() > 0; };
  if (given(o->no_decay()))
    text += fmt::format(" (not of {})", o->no_decay()->string_view());
  if (given(o->lr_scale()))
    text += fmt::format(" lr scale {}", o->lr_scale()->string_view());
  if (o->clip_norm() != 0)
    text += fmt::format(" clip norm {}", o->clip_norm());
  if (o->clip_value() != 0)
    text += fmt::format(" clip value {}", o->clip_value());
  if (o->ema() != 0)
    text += fmt::format(" ema {}", o->ema());
  return text;
}

void fillPlanFacts(TrainingReport &report, const plan::Plan &plan) {
  report.optimizer = optimizerText(plan);
  report.model = plan.model()->str();
  report.device = plan.target()->device()->str();
  report.batch = plan.batch();
  report.microBatches = plan.micro_batches();
  report.parameters = report.trainableParameters = plan.parameters();
  for (size_t i = 0; plan.variables() && i < plan.variables()->size(); ++i)
    if (const plan::Variable &variable = *plan.variables()->Get(i); variable.frozen())
      report.trainableParameters -= elementsOf(variable);
  report.memory.arenaBytes = plan.arena_bytes();
  plan.memory()->UnPackTo(&report.memory.planned);
  takePrecision(report, plan);
  if (!plan.report())
    return;
  json said = json::parse(plan.report()->str(), nullptr, /*allow_exceptions=*/false);
  takeRemat(report.remat, said);
  takeSplit(report.split, said);
  takePrediction(report.prediction, said);
}

void fillMemoryUse(TrainingReport &report, const MemoryMeasurement &use) {
  report.memory.measured = use;
  if (use.device)
    report.memory.device.emplace().driver = *use.device;
}

bool keepsGradients(const plan::Plan &plan) {
  for (size_t i = 0; plan.variables() && i < plan.variables()->size(); ++i)
    if (plan.variables()->Get(i)->gradient_buffer() >= 0)
      return true;
  return false;
}

} // namespace gc::runtime
