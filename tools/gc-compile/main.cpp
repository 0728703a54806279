// gc-compile: a model to a plan. See Arguments.cpp for the flags.
#include "runtime/process/AtomicFile.h"
#include "runtime/process/StandardStreams.h"
#include "runtime/process/WaitPolicy.h"
#include "runtime/report/Sizes.h"
#include "tools/calibration/MachineOrigin.h"
#include "tools/calibration/MachineRates.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/CudaModel.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-compile/Arguments.h"
#include "tools/gc-compile/CompileReport.h"
#include "tools/gc-compile/CudaReport.h"
#include "tools/gc-compile/Pareto.h"
#include "tools/gc-compile/Questions.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

using namespace gc::runtime;

static Status compileToFile(Arguments &a) {
  // Asked first: nobody should wait for a compilation to hear of a misspelled directory.
  if (Status fine = checkFiles(a); !fine)
    return fine;
  Result<std::string> text = readModelFile(a.model);
  if (!text)
    return text.error();
  if (isPlan(*text))
    return badInput(fmt::format("'{}' is a plan already; give it to gc-run", displayName(a.model)));
  if (a.compile.device == "cuda" && a.compile.target.empty())
    if (Status described = describeTarget("cuda", a.compile); !described)
      return badInput(fmt::format("--device=cuda needs a --target to compile for, as this machine "
                                  "has no GPU that tells it ({}); gc-compile --targets lists them",
                                  described.error().message));
  bool isQuestion = a.maxBatch || !a.whatIf.empty();
  bool tellsTime = isQuestion || asksForTime(a.compile) || !a.report.empty() || !a.html.empty();
  findMachineRates(a.compile, usualWish(a.noCalibrate, tellsTime));
  if (isQuestion)
    return a.maxBatch ? answerMaxBatch(a, *text) : answerWhatIf(a, *text);
  Result<CompiledModel> compiled = compileText(*text, a.model, a.compile);
  if (!compiled)
    return compiled.error();
  if (a.compile.pareto) {
    std::vector<ParetoPoint> points = paretoPoints(compiled->result.report);
    fmt::print("{}found in {:.2f} s, times predicted by rates: {}\n", paretoTable(points),
               compiled->seconds, ratesFrom(compiled->result.report));
    if (Status done = writeIfAsked(a.csv, paretoCsv(points)); !done)
      return done;
    return writeIfAsked(a.plot,
                        paretoPlot(points, std::filesystem::path(displayName(a.model)).stem()));
  }
  const std::vector<uint8_t> &bytes = compiled->result.plan;
  Result<PlanFile> plan = PlanFile::fromMemory(std::as_bytes(std::span(bytes)), a.model);
  if (!plan)
    return runFailed("the compiler made a plan that does not verify, please report this: " +
                     plan.error().message);
  describeMachine(a.origin);
  CompileReport report{compiled->seconds, compiled->result.report, a.origin};
  std::fputs(summaryText(*plan, report).c_str(), stdout);
  if (a.compile.explain)
    fmt::print("\n{}\n", compiled->result.explanation);
  if (a.kernels)
    fmt::print("\n{}\n", kernelTable(compiled->result.report));
  if (a.compile.check && compiled->result.check.empty())
    return runFailed("--check: the compiler did not say what it has checked, please report this");
  if (a.compile.check)
    fmt::print("{:<11} {}\n", "checked", compiled->result.check);
  if (!a.output.empty()) {
    std::string_view plan(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (Status done = writeFileAtomically(a.output, plan); !done)
      return done;
    fmt::print("{:<11} {}, {}\n", "written", a.output, sizeText(bytes.size()));
  } else {
    fmt::print("{:<11} no plan (-o FILE keeps it)\n", "written");
  }
  if (Status done = writeIfAsked(a.report, reportJson(*plan, report)); !done)
    return done;
  if (a.html.empty())
    return {};
  Result<std::string> page = htmlPage(*plan, report);
  if (!page)
    return page.error();
  return writeIfAsked(a.html, *page);
}

int main(int argc, char **argv) {
  prepareProcess();
  waitWithLittleSpinning(argv);
  Arguments arguments;
  int exitCode = 0;
  if (!parseArguments(argc, argv, arguments, exitCode))
    return exitCode;
  if (Status done = compileToFile(arguments); !done)
    exitCode = failWith("gc-compile", done.error());
  return finishStandardOutput("gc-compile", exitCode,
                              arguments.output.empty() ? PrintedText::IsTheResult
                                                       : PrintedText::TellsAboutFiles);
}
