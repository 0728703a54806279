// What a program outside of this repository does: compile a model, train it, look at the report.
#include "compiler/Compile.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/trainer/TrainPlan.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>

int main(int argc, char **argv) {
  if (argc != 2)
    return std::fprintf(stderr, "usage: consumer MODEL.mlir\n"), 2;
  std::ifstream file(argv[1]);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  gc::CompileOptions options;
  options.optimizer.lr = 0.1;
  gc::CompileResult compiled = gc::compileModel(text, argv[1], options);
  if (compiled.exitCode != 0)
    return std::fprintf(stderr, "%s\n", compiled.error.c_str()), 1;

  auto plan = gc::runtime::PlanFile::fromMemory(std::as_bytes(std::span(compiled.plan)));
  if (!plan)
    return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;
  gc::runtime::TrainOptions training;
  training.schedule.steps = 20;
  gc::runtime::TrainingReport report;
  if (auto done = gc::runtime::trainPlan(*plan, training, report); !done)
    return std::fprintf(stderr, "%s\n", done.error().message.c_str()), 1;
  std::printf("trained %zu steps: %.4f -> %.4f\n", report.loss.size(), report.loss.front(),
              report.loss.back());
  bool isSound = report.loss.size() == 20 && std::isfinite(report.loss.back()) &&
                 report.loss.back() != report.loss.front() &&
                 report.memory.measured.allocationsInStep == 0;
  return isSound ? 0 : 1;
}
