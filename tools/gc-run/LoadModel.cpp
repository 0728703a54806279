#include "tools/gc-run/LoadModel.h"

#include "tools/calibration/MachineRates.h"
#include "tools/flags/CudaModel.h"
#include "tools/flags/ModelFile.h"

#include <fmt/format.h>

using namespace gc::runtime;

Result<PlanFile> compilePlan(const std::string &text, Arguments &a) {
  if (a.compile.device == "cuda" && a.compile.target.empty()) {
    if (Status described = describeTarget(a.train.device, a.compile); !described)
      return described.error();
  }
  bool tellsTime = asksForTime(a.compile) || !a.train.report.empty();
  RatesWish wish = usualWish(a.noCalibrate, tellsTime);
  if (a.train.progress == ProgressMode::None)
    wish.say = [](const std::string &) {};
  findMachineRates(a.compile, wish);
  Result<CompiledModel> compiled = compileText(text, a.model, a.compile);
  if (!compiled)
    return compiled.error();
  a.train.compileSeconds = compiled->seconds;
  return PlanFile::fromMemory(std::as_bytes(std::span(compiled->result.plan)), a.model);
}

Result<PlanFile> loadModel(Arguments &a) {
  Result<std::string> text = readModelFile(a.model);
  if (!text)
    return text.error();
  if (isPlan(*text)) {
    if (!a.compileFlag.empty())
      return badInput(
          fmt::format("{} is decided when a plan is compiled; give it to gc-compile, or "
                      "give gc-run the model instead of the plan",
                      a.compileFlag));
    return PlanFile::fromMemory(std::as_bytes(std::span(*text)), a.model);
  }
  return compilePlan(*text, a);
}
