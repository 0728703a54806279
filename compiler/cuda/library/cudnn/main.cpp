//===- main.cpp - gc-cudnn-plan: plans graphs, one JSON object a line -----===//
//
// Started by LibraryPlanner; the lines are described in GraphJson.h.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/library/GraphJson.h"
#include "compiler/cuda/library/cudnn/EngineChoice.h"
#include "runtime/plan/ExitCode.h"
#include <cstdio>
#include <iostream>
#include <unistd.h>

using namespace gc::cuda;
using Json = nlohmann::json;

template <typename Graph>
static std::vector<LibraryPlan> plansFor(const Graph &graph, const PlannedDevices &devices,
                                         const PlannerOptions &options) {
  GraphBuilder builder(graph.type);
  build(graph, builder);
  try {
    return chooseEngines(builder, devices, options);
  } catch (const NoPlan &error) {
    if constexpr (std::is_same_v<Graph, gc::plan::MatMulSpecT>) {
      GraphBuilder other(graph.type);
      if (!buildAsConvolution(graph, other))
        throw;
      try {
        return chooseEngines(other, devices, options);
      } catch (const NoPlan &second) {
        throw NoPlan(std::string(error.what()) + "; as a convolution: " + second.what());
      }
    }
    throw;
  }
}

template <typename Graph>
static Json planned(const Json &json, const PlannedDevices &devices,
                    const PlannerOptions &options) {
  auto plans = plansFor(json.get<Graph>(), devices, options);
  Json answer;
  answer["plan"] = plans.front();
  plans.erase(plans.begin());
  answer["alternatives"] = plans;
  return answer;
}

static Json answerTo(const Json &request, const PlannedDevices &devices,
                     const PlannerOptions &options) {
  if (request.contains("restore"))
    return {{"workspace", restorePlan(request["restore"].get<std::string>(), devices.planned)}};
  using Planned = Json (*)(const Json &, const PlannedDevices &, const PlannerOptions &);
  static const std::pair<const char *, Planned> kinds[] = {
      {"convolution", planned<gc::plan::ConvolutionSpecT>},
      {"product", planned<gc::plan::MatMulSpecT>},
      {"layer_norm", planned<LayerNormGraph>},
      {"batch_norm", planned<BatchNormGraph>},
      {"attention", planned<AttentionGraph>},
      {"pool", planned<PoolGraph>}};
  for (auto [kind, plan] : kinds)
    if (request.contains(kind))
      return plan(request[kind], devices, options);
  throw NoPlan("the planner does not know this kind of graph");
}

int main() {
  // What the library prints must not get among the answers.
  FILE *answers = fdopen(dup(STDOUT_FILENO), "w");
  if (!answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return gc::exits::RunFailed;
  std::optional<PlannedDevices> devices;
  PlannerOptions options;
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      Json request = Json::parse(line);
      if (devices) {
        answer = answerTo(request, *devices, options);
      } else {
        auto description = request.at("device").get<std::string>();
        loadCudnn(Json::parse(description).at("deviceVer").get<int>() / 10); // 860 is sm_86
        options = request.at("options").get<PlannerOptions>();
        auto largest = request.at("largest").get<std::string>();
        int count = Json::parse(largest).at("multiProcessorCount").get<int>();
        devices.emplace(PlannedDevices{describeDevice(description), describeDevice(largest),
                                       largest == description ? 0 : count});
        answer = {{"version", cudnn().version}, {"driver", cudnn().driver}};
      }
    } catch (const std::exception &error) {
      answer = {{"reason", error.what()}};
    }
    std::string text = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    std::fwrite(text.data(), 1, text.size(), answers);
    std::fflush(answers);
  }
  std::_Exit(0); // nothing of the library's own endings, which look for a device
}
