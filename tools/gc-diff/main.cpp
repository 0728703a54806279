// gc-diff: two plans side by side. See Arguments.cpp for the flags.
#include "runtime/process/AtomicFile.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/process/StandardStreams.h"
#include "runtime/trainer/DescribePlan.h"
#include "tools/flags/CommandLine.h"
#include "tools/gc-diff/Arguments.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace gc::runtime;

static constexpr size_t usuallyShown = 20;

/// Whether a file that is there is none of a plan's bytes: a model most likely, which says how it
/// becomes a plan.
static bool isNoPlan(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kPlanHeaderBytes> begin;
  file.read(begin.data(), begin.size());
  auto count = static_cast<size_t>(file.gcount());
  return count > 0 && !looksLikePlan(std::as_bytes(std::span(begin)).first(count));
}

static Result<DescribedPlan> readPlan(const std::string &path) {
  if (isNoPlan(path))
    return badInput(fmt::format("'{0}' is not a plan; if it is a model, compile it first: "
                                "gc-compile {0} -o {1}",
                                path, std::filesystem::path(path).stem().string() + ".plan"));
  Result<PlanFile> file = PlanFile::load(path);
  if (!file)
    return file.error();
  return describePlan(*file, path);
}

static Status compare(const Arguments &arguments) {
  if (Status fine =
          checkOutputs({{"--report", arguments.report}, {"--html", arguments.html}},
                       {{"the first plan", arguments.a}, {"the second plan", arguments.b}});
      !fine)
    return fine;
  Result<DescribedPlan> a = readPlan(arguments.a);
  if (!a)
    return a.error();
  Result<DescribedPlan> b = readPlan(arguments.b);
  if (!b)
    return b.error();
  PlanDiff diff = comparePlans(std::move(*a), std::move(*b));
  size_t shown = arguments.all ? std::numeric_limits<size_t>::max() : usuallyShown;
  std::fputs(diffText(diff, shown).c_str(), stdout);
  if (!arguments.report.empty())
    if (Status done = writeFileAtomically(arguments.report, diffJson(diff)); !done)
      return done;
  if (arguments.html.empty())
    return {};
  return writeFileAtomically(arguments.html, diffPage(diff, usuallyShown));
}

int main(int argc, char **argv) {
  prepareProcess();
  Arguments arguments;
  int exitCode = 0;
  if (!parseArguments(argc, argv, arguments, exitCode))
    return exitCode;
  if (Status done = compare(arguments); !done)
    exitCode = failWith("gc-diff", done.error());
  return finishStandardOutput("gc-diff", exitCode, PrintedText::IsTheResult);
}
