// gc-compile: a model to a plan. See Arguments.cpp for the flags.
#include "runtime/report/Sizes.h"
#include "runtime/weights/AtomicFile.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-compile/Arguments.h"
#include "tools/gc-compile/CompileReport.h"
#include "tools/gc-compile/CudaReport.h"
#include "tools/gc-compile/Pareto.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

using namespace gc::runtime;

static Result<void> keep(AtomicFile &file, const std::string &text) {
  if (Result<void> done = file.write(text); !done)
    return done;
  return file.commit();
}

static Result<void> compileToFile(const Arguments &a) {
  Result<std::string> text = readModelFile(a.model);
  if (!text)
    return text.error();
  if (isPlan(*text))
    return badInput(fmt::format("'{}' is a plan already; give it to gc-run", displayName(a.model)));

  // Opened first: nobody should wait for a compilation to hear of a misspelled directory.
  std::optional<AtomicFile> planFile, reportFile, pageFile, csvFile, plotFile;
  for (auto [path, file] : {std::pair(&a.output, &planFile), std::pair(&a.report, &reportFile),
                            std::pair(&a.html, &pageFile), std::pair(&a.csv, &csvFile),
                            std::pair(&a.plot, &plotFile)}) {
    if (path->empty())
      continue;
    Result<AtomicFile> created = AtomicFile::create(*path);
    if (!created)
      return created.error();
    file->emplace(std::move(*created));
  }

  Result<CompiledModel> compiled = compileText(*text, a.model, a.compile);
  if (!compiled)
    return compiled.error();
  if (a.compile.pareto) {
    std::vector<ParetoPoint> points = paretoPoints(compiled->result.report);
    fmt::print("{}found in {:.2f} s\n", paretoTable(points), compiled->seconds);
    if (csvFile)
      if (Result<void> done = keep(*csvFile, paretoCsv(points)); !done)
        return done;
    if (plotFile)
      return keep(*plotFile, paretoPlot(points, std::filesystem::path(displayName(a.model)).stem()));
    return {};
  }
  const std::vector<uint8_t> &bytes = compiled->result.plan;
  Result<PlanFile> plan = PlanFile::fromMemory(std::as_bytes(std::span(bytes)), a.model);
  if (!plan)
    return runFailed("the compiler made a plan that does not verify, please report this: " +
                     plan.error().message);
  CompileReport report{compiled->seconds, compiled->result.report};
  std::fputs(summaryText(*plan, report).c_str(), stdout);
  if (a.compile.explain)
    fmt::print("\n{}\n", compiled->result.explanation);
  if (a.kernels)
    fmt::print("\n{}\n", kernelTable(compiled->result.report));
  if (a.compile.check && compiled->result.check.empty())
    return runFailed("--check: the compiler did not say what it has checked, please report this");
  if (a.compile.check)
    fmt::print("{:<11} {}\n", "checked", compiled->result.check);
  if (planFile) {
    if (Result<void> done = planFile->write(bytes.data(), bytes.size()); !done)
      return done;
    if (Result<void> done = planFile->commit(); !done)
      return done;
    fmt::print("{:<11} {}, {}\n", "written", a.output, sizeText(bytes.size()));
  } else {
    fmt::print("{:<11} no plan (-o FILE keeps it)\n", "written");
  }
  if (reportFile)
    if (Result<void> done = keep(*reportFile, reportJson(*plan, report)); !done)
      return done;
  if (pageFile) {
    Result<std::string> page = htmlPage(*plan, report);
    if (!page)
      return page.error();
    return keep(*pageFile, *page);
  }
  return {};
}

int main(int argc, char **argv) {
  Arguments arguments;
  int exitCode = 0;
  if (!parseArguments(argc, argv, arguments, exitCode))
    return exitCode;
  if (Result<void> done = compileToFile(arguments); !done)
    return failWith("gc-compile", done.error());
  return 0;
}
