//===- main.cpp - gc-cudnn-table: what cuDNN plans for which GPU ----------===//
//
// Prints PLANS.md of compiler/cuda/library; targets may be named to print only those. With --cards:
// which plans of an architecture restore on its cards, fitted to card and driver as the runtime
// does it. A line for each, with tabs between: target, card, driver's CUDA, graphs restored, graphs
// planned, graphs asked for, the first reason why one was not planned or not restored.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/library/ExampleGraphs.h"
#include "compiler/cuda/library/LibraryPlanner.h"
#include "runtime/plan/CudnnProfile.h"
#include "runtime/plan/ElementType.h"
#include "runtime/plan/ExitCode.h"
#include "runtime/process/StandardStreams.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

using namespace gc::cuda;

static std::string bytes(int64_t count) {
  char text[32];
  if (count < (1 << 10))
    std::snprintf(text, sizeof text, "%d B", int(count));
  else if (count < (1 << 20))
    std::snprintf(text, sizeof text, "%.0f KiB", double(count) / (1 << 10));
  else
    std::snprintf(text, sizeof text, "%.1f MiB", double(count) / (1 << 20));
  return text;
}

static int printTables(int argc, char **argv) {
  std::vector<const DeviceModel *> devices;
  for (const DeviceModel &device : deviceModels())
    if (argc == 1 ||
        std::any_of(argv + 1, argv + argc, [&](const char *name) { return name == device.target; }))
      devices.push_back(&device);
  if (devices.empty()) {
    std::fprintf(stderr, "gc-cudnn-table: no such target; name some of sm_75 ... sm_120\n");
    return gc::exits::BadInput;
  }
  struct Row {
    std::string name, cells;
  };
  std::map<gc::plan::DType, std::vector<Row>> tables;
  std::vector<std::string> reasons;
  std::string header, line, library, driver;
  std::vector<double> seconds;
  PlannerOptions options;
  options.maxAlternatives = 0;
  for (const DeviceModel *device : devices) {
    std::string reason;
    auto planner = LibraryPlanner::create(*device, options, reason);
    if (!planner) {
      std::fprintf(stderr, "gc-cudnn-table: %s\n", reason.c_str());
      return gc::exits::RunFailed;
    }
    library = planner->libraryVersion(), driver = planner->driver();
    header += " " + device->target + " |", line += "---|";
    for (gc::plan::DType type : {gc::plan::DType_F32, gc::plan::DType_F16, gc::plan::DType_BF16}) {
      auto graphs = exampleGraphs(type);
      auto &rows = tables[type];
      rows.resize(graphs.size());
      for (size_t i = 0; i < graphs.size(); ++i) {
        rows[i].name = graphs[i].name;
        auto start = std::chrono::steady_clock::now();
        auto answer =
            std::visit([&](auto &graph) { return planner->plan(graph); }, graphs[i].graph);
        std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        seconds.push_back(taken.count());
        if (answer.plan) {
          std::string engine = answer.plan->engine.substr(0, answer.plan->engine.find(" ("));
          rows[i].cells += " " + engine + ", " + bytes(answer.plan->workspaceBytes) +
                           (answer.plan->winograd ? ", Winograd |" : " |");
          continue;
        }
        auto place = std::find(reasons.begin(), reasons.end(), answer.reason);
        size_t number = place - reasons.begin() + 1;
        if (place == reasons.end())
          reasons.push_back(answer.reason);
        rows[i].cells += " none (" + std::to_string(number) + ") |";
      }
    }
  }
  std::printf(
      "# What cuDNN plans for which GPU\n\n"
      "Written by `gc-cudnn-table > compiler/cuda/library/PLANS.md`, with cuDNN %s and the "
      "%s;\nno GPU is needed. Graphs of resnet-50 and vit-small at batch 16, by "
      "deterministic engines without TF32, in f32 without Winograd's algorithm where there is "
      "another. Engine and\nworkspace of the first choice, enough for "
      "the largest card of the architecture; what has `none` takes the generated path, for "
      "the reason of that number below.\n",
      library.c_str(), driver.c_str());
  for (auto &[type, rows] : tables) {
    std::printf("\n## %s\n\n| graph |%s\n|---|%s\n", gc::runtime::elementTypeOf(type)->mlir.data(),
                header.c_str(), line.c_str());
    for (auto &row : rows)
      std::printf("| %s |%s\n", row.name.c_str(), row.cells.c_str());
  }
  std::printf("\n## Why there is none\n\n");
  for (size_t i = 0; i < reasons.size(); ++i)
    std::printf("%zu. %s\n", i + 1, reasons[i].c_str());
  std::sort(seconds.begin(), seconds.end());
  std::fprintf(stderr, "%zu graphs, median %.2f s, slowest %.2f s\n", seconds.size(),
               seconds[seconds.size() / 2], seconds.back());
  return gc::exits::Done;
}

/// One graph of each kind that the library runs in f32.
static std::vector<ExampleGraph> graphsOfCards() {
  std::vector<ExampleGraph> graphs = exampleGraphs(gc::plan::DType_F32);
  std::erase_if(graphs, [](const ExampleGraph &graph) {
    for (const char *name :
         {"convolution 3x3", "convolution, data gradient", "convolution, filter gradient",
          "linear + bias + residual", "layer norm", "layer norm, gradient"})
      if (graph.name == name)
        return false;
    return true;
  });
  return graphs;
}

static int printCards(const std::vector<std::string> &targets) {
  constexpr int drivers[] = {12000, 12020, 12040, 12080, 13000, 13010};
  PlannerOptions options;
  options.maxAlternatives = 0;
  std::string reason;
  for (const DeviceModel &device : deviceModels()) {
    if (!targets.empty() &&
        std::find(targets.begin(), targets.end(), device.target) == targets.end())
      continue;
    auto planner = LibraryPlanner::create(device, options, reason);
    if (!planner) {
      std::fprintf(stderr, "gc-cudnn-table: %s\n", reason.c_str());
      return gc::exits::RunFailed;
    }
    std::vector<LibraryPlan> plans;
    std::vector<ExampleGraph> examples = graphsOfCards();
    std::string notPlanned; // why the first was not
    for (const ExampleGraph &example : examples) {
      auto answer = std::visit([&](auto &graph) { return planner->plan(graph); }, example.graph);
      if (answer.plan)
        plans.push_back(std::move(*answer.plan));
      else if (notPlanned.empty())
        notPlanned = example.name + " has no plan: " + answer.reason;
    }
    for (const DeviceModel &card : cards())
      for (int driver : drivers) {
        if (card.target != device.target)
          continue;
        PlannerOptions there = options;
        there.driverVersion = driver;
        auto elsewhere = LibraryPlanner::create(card, there, reason);
        if (!elsewhere) {
          std::fprintf(stderr, "gc-cudnn-table: %s\n", reason.c_str());
          return gc::exits::RunFailed;
        }
        size_t restored = 0;
        std::string first = notPlanned;
        for (const LibraryPlan &plan : plans) {
          auto fitted = gc::plan::fitCudnnPlan(plan.plan, driver, card.multiprocessors);
          auto workspace = fitted ? elsewhere->restore(*fitted, reason) : std::nullopt;
          bool fits = workspace && *workspace <= plan.workspaceBytes;
          restored += fits;
          if (!fits && first.empty())
            first = !fitted     ? "no profile in the plan"
                    : workspace ? "more workspace than planned"
                                : reason;
        }
        std::printf("%s\t%s\t%d\t%zu\t%zu\t%zu\t%s\n", card.target.c_str(), card.name.c_str(),
                    driver, restored, plans.size(), examples.size(), first.c_str());
        std::fflush(stdout);
      }
  }
  return gc::exits::Done;
}

int main(int argc, char **argv) {
  gc::runtime::prepareProcess();
  bool ofCards = argc > 1 && std::string(argv[1]) == "--cards";
  return gc::runtime::finishStandardOutput(
      "gc-cudnn-table", ofCards ? printCards({argv + 2, argv + argc}) : printTables(argc, argv),
      gc::runtime::PrintedText::IsTheResult);
}
