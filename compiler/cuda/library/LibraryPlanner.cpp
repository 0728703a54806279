//===- LibraryPlanner.cpp - asks the process that has the library ---------===//
#include "compiler/cuda/library/LibraryPlanner.h"
#include "compiler/cuda/library/GraphJson.h"
#include "compiler/cuda/library/PlannerProcess.h"
#include <filesystem>
#include <unordered_map>

namespace gc::cuda {

using Json = nlohmann::json;

struct LibraryPlanner::State {
  std::string helper;
  Json opening;
  std::string version, driver;
  PlannerProcess process;
  std::unordered_map<std::string, PlanAnswer> answers;

  /// Null, and `reason` set, when there is no answer.
  Json ask(const Json &request, std::string &reason) {
    auto line = process.ask(request.dump(), reason);
    if (!line)
      return nullptr;
    Json answer = Json::parse(*line, nullptr, false);
    if (answer.is_discarded()) {
      reason = "the planner's answer is no JSON";
      return nullptr;
    }
    if (answer.contains("reason")) {
      reason = answer["reason"].get<std::string>();
      return nullptr;
    }
    return answer;
  }

  bool start(std::string &reason) {
    if (process.running())
      return true;
    if (!process.start(helper, reason))
      return false;
    Json answer = ask(opening, reason);
    if (answer.is_null())
      return false;
    version = answer["version"].get<std::string>();
    driver = answer["driver"].get<std::string>();
    return true;
  }

  template <typename Graph> PlanAnswer plan(const char *kind, const Graph &graph) {
    Json request;
    request[kind] = graph;
    auto [place, isNew] = answers.try_emplace(request.dump());
    PlanAnswer &result = place->second;
    if (!isNew || !start(result.reason))
      return result;
    Json answer = ask(request, result.reason);
    if (answer.is_null())
      return result;
    result.plan = answer["plan"].get<LibraryPlan>();
    result.alternatives = answer["alternatives"].get<std::vector<LibraryPlan>>();
    return result;
  }
};

LibraryPlanner::LibraryPlanner(std::unique_ptr<State> state) : state(std::move(state)) {}
LibraryPlanner::~LibraryPlanner() = default;

std::unique_ptr<LibraryPlanner> LibraryPlanner::create(const DeviceModel &device,
                                                       const PlannerOptions &options,
                                                       std::string &reason) {
#ifndef GC_HAVE_CUDNN_HEADERS
  (void)device, (void)options;
  reason = "built without cuDNN's headers (9.8 or newer)";
  return nullptr;
#else
  auto state = std::make_unique<State>();
  state->helper = options.helper;
  if (state->helper.empty()) {
    std::error_code error;
    auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    state->helper = program.parent_path() / "gc-cudnn-plan";
  }
  state->opening["device"] = device.cudnnJson();
  state->opening["options"] = options;
  if (!state->start(reason))
    return nullptr;
  return std::unique_ptr<LibraryPlanner>(new LibraryPlanner(std::move(state)));
#endif
}

PlanAnswer LibraryPlanner::plan(const ConvolutionGraph &graph) {
  return state->plan("convolution", graph);
}
PlanAnswer LibraryPlanner::plan(const ProductGraph &graph) { return state->plan("product", graph); }
PlanAnswer LibraryPlanner::plan(const LayerNormGraph &graph) {
  return state->plan("layer_norm", graph);
}
PlanAnswer LibraryPlanner::plan(const BatchNormGraph &graph) {
  return state->plan("batch_norm", graph);
}
PlanAnswer LibraryPlanner::plan(const AttentionGraph &graph) {
  return state->plan("attention", graph);
}
PlanAnswer LibraryPlanner::plan(const PoolGraph &graph) { return state->plan("pool", graph); }

std::optional<int64_t> LibraryPlanner::restore(const std::string &plan, std::string &reason) {
  if (!state->start(reason))
    return std::nullopt;
  Json request;
  request["restore"] = plan;
  Json answer = state->ask(request, reason);
  if (answer.is_null())
    return std::nullopt;
  return answer["workspace"].get<int64_t>();
}

const std::string &LibraryPlanner::libraryVersion() const { return state->version; }
const std::string &LibraryPlanner::driver() const { return state->driver; }

} // namespace gc::cuda
