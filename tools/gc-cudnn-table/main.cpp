//===- main.cpp - gc-cudnn-table: what cuDNN plans for which GPU ----------===//
//
// Prints PLANS.md of compiler/cuda/library; targets may be named to print only those.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/library/ExampleGraphs.h"
#include "compiler/cuda/library/LibraryPlanner.h"
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
          rows[i].cells += " " + engine + ", " + bytes(answer.plan->workspaceBytes) + " |";
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
      "deterministic engines without TF32. Engine and\nworkspace of the first choice, enough for "
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

int main(int argc, char **argv) {
  gc::runtime::prepareProcess();
  return gc::runtime::finishStandardOutput("gc-cudnn-table", printTables(argc, argv),
                                           gc::runtime::PrintedText::IsTheResult);
}
