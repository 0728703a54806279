//===- EngineChoice.cpp - which of cuDNN's engines computes a graph -------===//
#include "compiler/cuda/library/cudnn/EngineChoice.h"
#include "runtime/plan/CudnnProfile.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace gc::cuda {

// Below this size, a smaller workspace is not worth looking for.
constexpr int64_t worthLess = 1 << 20;

Descriptor describeDevice(const std::string &json) {
  Descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json).finalize("describing the device");
  return device;
}

// What the heuristics propose, best first.
static std::vector<Descriptor> proposals(const Descriptor &graph, const Descriptor &device,
                                         cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode)
      .set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device)
      .finalize("asking the heuristics");
  int64_t count = 0;
  check(cudnn().cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
        "asking the heuristics");
  return heuristics.getDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
}

using Notes = std::vector<cudnnBackendNumericalNote_t>;

static bool has(const Notes &notes, cudnnBackendNumericalNote_t note) {
  return std::ranges::count(notes, note) > 0;
}

// Winograd's algorithm adds and subtracts pixels before it multiplies, which costs digits that a
// plain sum keeps.
static bool isWinograd(const Notes &notes) {
  for (auto note :
       {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13})
    if (has(notes, note))
      return true;
  return false;
}

// An f32 product meets tensor cores only by rounding to TF32; without a product the note is about
// what else the engine can do.
static bool isTf32(const Notes &notes, const GraphBuilder &graph) {
  return graph.dataType() == CUDNN_DATA_FLOAT && graph.hasProduct() &&
         has(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

// What an engine may not do, or null.
static const char *objection(const Notes &notes, const GraphBuilder &graph,
                             const PlannerOptions &options, bool allowWinograd) {
  if (!options.allowNondeterministic && has(notes, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
    return "not deterministic";
  if (!options.allowTf32 && isTf32(notes, graph))
    return "TF32";
  if (!options.allowTf32 && !allowWinograd && graph.dataType() == CUDNN_DATA_FLOAT &&
      isWinograd(notes))
    return "Winograd";
  if (has(notes, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS))
    return "rounds its operands";
  if (has(notes, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return "sums in reduced precision";
  return nullptr;
}

// "engine 7 (knob 2 = 3, knob 12 = 1)": knobs by the library's numbers.
static std::string nameOf(const Descriptor &engine, const Descriptor &config) {
  std::string name = "engine " + std::to_string(engine.getNumber(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  std::map<int64_t, int64_t> knobs;
  for (const Descriptor &choice :
       config.getDescriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    auto type = choice.getArray<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
    if (!type.empty())
      knobs[type[0]] = choice.getNumber(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
  }
  std::string text;
  for (auto [knob, value] : knobs)
    text += (text.empty() ? "" : ", ") + std::to_string(knob) + " = " + std::to_string(value);
  return text.empty() ? name : name + " (knobs " + text + ")";
}

// The library's workspace on the largest device that the plan shall serve; some grow with its
// multiprocessors. A plan that does not restore there at all needs none: its twin runs.
static int64_t workspaceOnLargest(const std::string &plan, const PlannedDevices &devices,
                                  int driverVersion) {
  if (devices.largestCount == 0)
    return 0;
  auto fitted = plan::fitCudnnPlan(plan, driverVersion, devices.largestCount);
  if (!fitted)
    throw NoPlan("the plan has no profile of the GPU");
  try {
    return restorePlan(*fitted, devices.largest);
  } catch (const NoPlan &) {
    return 0;
  }
}

static std::vector<LibraryPlan> chooseAmong(const GraphBuilder &builder,
                                            const PlannedDevices &devices,
                                            const PlannerOptions &options, bool allowWinograd) {
  Descriptor graph = builder.finish();
  std::vector<LibraryPlan> plans;
  std::set<std::string> considered;   // the heuristics' modes overlap
  std::map<std::string, int> refused; // why, how often
  std::string failure;                // the library's words, of the heuristics at first
  int64_t limit = options.workspaceLimit;

  auto consider = [&](const Descriptor &config) {
    auto engines =
        config.getDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    std::string name = nameOf(engines.at(0), config);
    if (!considered.insert(name).second)
      return;
    Notes notes =
        engines.at(0).getArray<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
    if (const char *why = objection(notes, builder, options, allowWinograd)) {
      ++refused[why];
      return;
    }
    // Known before anything is compiled, which can take seconds.
    int64_t own = config.getNumber(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
    int64_t start = builder.scratches.empty() ? own : (own + 255) / 256 * 256;
    if (start + builder.scratchBytes > limit) {
      ++refused["more workspace than allowed"];
      return;
    }
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
        .set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, devices.planned)
        .finalize("building the plan");
    if (plan.getNumber(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) != own)
      throw NoPlan("building the plan: " + name + " needs another workspace than it said");
    auto bytes = plan.getArray<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    std::string text(bytes.data(), strnlen(bytes.data(), bytes.size()));
    own = std::max(own, workspaceOnLargest(text, devices, options.driverVersion));
    start = builder.scratches.empty() ? own : (own + 255) / 256 * 256;
    LibraryPlan result{std::move(text),
                       start + builder.scratchBytes,
                       name,
                       isTf32(notes, builder),
                       isWinograd(notes),
                       builder.tensorIds,
                       builder.scalars,
                       builder.scratches};
    for (auto &scratch : result.scratch)
      scratch.offset += start;
    limit = result.workspaceBytes > worthLess ? result.workspaceBytes / 2 : -1;
    plans.push_back(std::move(result));
  };

  for (auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    std::vector<Descriptor> configs;
    try {
      configs = proposals(graph, devices.planned, mode);
    } catch (const NoPlan &error) {
      failure = error.what();
    }
    for (const Descriptor &config : configs) {
      if (!plans.empty() && (limit < 0 || int(plans.size()) > options.maxAlternatives))
        return plans;
      try {
        consider(config);
      } catch (const NoPlan &error) {
        failure = error.what();
      }
    }
  }
  if (!plans.empty())
    return plans;
  if (refused.empty() && failure.empty())
    throw NoPlan("no engine: the heuristics propose none");
  std::string text;
  for (auto &[why, count] : refused)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + why;
  if (!failure.empty())
    text += (text.empty() ? "" : ", ") + failure;
  throw NoPlan("no engine: " + text);
}

// In f32, engines of Winograd's algorithm only where no other is left.
std::vector<LibraryPlan> chooseEngines(const GraphBuilder &builder, const PlannedDevices &devices,
                                       const PlannerOptions &options) {
  try {
    return chooseAmong(builder, devices, options, /*allowWinograd=*/false);
  } catch (const NoPlan &) {
    if (options.allowTf32)
      throw;
  }
  return chooseAmong(builder, devices, options, /*allowWinograd=*/true);
}

int64_t restorePlan(const std::string &text, const Descriptor &device) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device)
      .set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, text)
      .finalize("restoring the plan");
  return plan.getNumber(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

} // namespace gc::cuda
