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

  /// Gives the answer to `read`; false, and `reason` set, when there is none to read.
  template <typename Read> bool ask(const Json &request, std::string &reason, Read read) {
    auto line = process.ask(request.dump(), reason);
    if (!line)
      return false;
    try {
      Json answer = Json::parse(*line);
      if (answer.contains("reason")) {
        reason = answer["reason"].get<std::string>();
        return false;
      }
      read(answer);
      return true;
    } catch (const Json::exception &error) {
      reason = std::string("the planner's answer is not understood: ") + error.what();
      return false;
    }
  }

  bool start(std::string &reason) {
    if (process.running())
      return true;
    return process.start(helper, reason) && ask(opening, reason, [&](const Json &answer) {
             version = answer.at("version").get<std::string>();
             driver = answer.at("driver").get<std::string>();
           });
  }

  template <typename Graph> PlanAnswer plan(const char *kind, const Graph &graph) {
    Json request;
    request[kind] = graph;
    auto [place, isNew] = answers.try_emplace(request.dump());
    PlanAnswer &result = place->second;
    if (isNew && start(result.reason))
      ask(request, result.reason, [&](const Json &answer) {
        result.plan = answer.at("plan").get<LibraryPlan>();
        result.alternatives = answer.at("alternatives").get<std::vector<LibraryPlan>>();
      });
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
  state->opening["device"] = device.cudnnJson(device.multiprocessors, options.driverVersion);
  state->opening["largest"] = device.cudnnJson(device.servedMultiprocessors, options.driverVersion);
  state->opening["options"] = options;
  if (!state->start(reason))
    return nullptr;
  return std::unique_ptr<LibraryPlanner>(new LibraryPlanner(std::move(state)));
#endif
}

PlanAnswer LibraryPlanner::plan(const plan::ConvolutionSpecT &graph) {
  return state->plan("convolution", graph);
}
PlanAnswer LibraryPlanner::plan(const plan::MatMulSpecT &graph) {
  return state->plan("product", graph);
}
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
  std::optional<int64_t> workspace;
  Json request;
  request["restore"] = plan;
  if (state->start(reason))
    state->ask(request, reason,
               [&](const Json &answer) { workspace = answer.at("workspace").get<int64_t>(); });
  return workspace;
}

const std::string &LibraryPlanner::libraryVersion() const { return state->version; }
const std::string &LibraryPlanner::driver() const { return state->driver; }

} // namespace gc::cuda
