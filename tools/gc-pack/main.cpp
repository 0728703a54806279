//===- main.cpp - gc-pack: the memory packer alone, on intervals from a file ===//

#include "passes/algorithms/packing/PackingCheck.h"
#include "runtime/process/OutputCheck.h"
#include "runtime/process/StandardStreams.h"
#include "runtime/report/Sizes.h"
#include "tools/flags/CommandLine.h"
#include "tools/gc-pack/IntervalFile.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace {

constexpr const char *kExamples = R"(Examples:
  gc-pack trace.csv                                as small as possible, for up to 10 seconds
  gc-pack trace.csv --capacity=1048576 -o out.csv  the first packing within a capacity

The file has the columns id, lower, upper and size (named by its first line, in any order): a buffer
is alive in [lower, upper). Prints {bytes, lower_bound, optimal, seconds} as JSON.
Exit codes: 0 done, 1 writing failed, 2 bad usage or input, 3 the capacity was not met (the best
packing is printed and written nevertheless); 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP, 141 the
reader of a pipe has gone.)";

int fail(const std::string &message, int code) {
  std::fprintf(stderr, "gc-pack: %s\n", message.c_str());
  return code;
}

struct Arguments {
  std::string input, output, capacity;
  gc::PackingOptions options;
};

int run(Arguments &arguments) {
  using namespace gc;
  PackingOptions &options = arguments.options;
  if (runtime::Status fine =
          runtime::checkOutputs({{"-o", arguments.output}}, {{"the input", arguments.input}});
      !fine)
    return fail(fine.error().message, fine.error().exitCode());
  if (!arguments.capacity.empty()) {
    runtime::Result<uint64_t> capacity = runtime::parseSize(arguments.capacity);
    if (!capacity)
      return fail("--capacity: " + capacity.error().message, exits::BadInput);
    if (*capacity == 0)
      return fail("--capacity must be at least 1 byte; leave it out for the smallest packing",
                  exits::BadInput);
    options.capacity = *capacity;
  }
  runtime::Result<pack::IntervalFile> file = pack::readIntervals(arguments.input);
  if (!file)
    return fail(file.error().message, file.error().exitCode());
  PackingResult packing = packIntervals(file->intervals, options);
  if (!packing.error.empty())
    return fail(arguments.input + ": " + packing.error, exits::BadInput);
  // Nothing leaves unproven.
  if (std::string wrong = describeInvalidPacking(file->intervals, packing.offsets, packing.bytes);
      !wrong.empty())
    return fail("internal error, please report: the packing is invalid: " + wrong,
                exits::RunFailed);

  bool fits = options.capacity == 0 || packing.fits(options.capacity);
  if (!fits) {
    std::string reason =
        packing.lowerBound > options.capacity
            ? "cannot be met: proven to need at least " + runtime::sizeText(packing.lowerBound)
            : "was not met within the limits: the proven bound is " +
                  runtime::sizeText(packing.lowerBound) + ", more seconds may help";
    fail("the capacity of " + runtime::sizeText(options.capacity) + " " + reason +
             "; the best packing found has " + runtime::sizeText(packing.bytes),
         exits::NoBudget);
  }
  if (!arguments.output.empty())
    if (runtime::Status written = pack::writePacking(arguments.output, *file, packing); !written)
      return fail(written.error().message, written.error().exitCode());
  nlohmann::ordered_json report = {{"bytes", packing.bytes},
                                   {"lower_bound", packing.lowerBound},
                                   {"optimal", packing.optimal},
                                   {"seconds", packing.seconds}};
  std::printf("%s\n", report.dump(2).c_str());
  return fits ? exits::Done : exits::NoBudget;
}

} // namespace

static int readAndRun(int argc, char **argv) {
  CLI::App app("Gives every buffer an offset in one arena that is as small as possible.",
               "gc-pack");
  app.footer(kExamples);
  app.set_version_flag("--version", "gc-pack " GC_VERSION);
  Arguments arguments;
  app.add_option("FILE", arguments.input, "intervals as comma-separated values")->required();
  app.add_option("-o", arguments.output, "write id,lower,upper,size,offset here");
  app.add_option("--capacity", arguments.capacity,
                 "stop at a packing of this many bytes (1.5GB is 10^9, 1MiB is 2^20)");
  app.add_option("--seconds", arguments.options.secondsLimit, "limit of the search")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--steps", arguments.options.stepLimit,
                 "limit of the search in elementary steps, the same on every machine; 0: none")
      ->capture_default_str();
  app.add_option("--threads", arguments.options.threads, "threads of the search")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  int exitCode = gc::exits::Done;
  return parseCommandLine(app, argc, argv, exitCode) ? run(arguments) : exitCode;
}

int main(int argc, char **argv) {
  gc::runtime::prepareProcess();
  return gc::runtime::finishStandardOutput("gc-pack", readAndRun(argc, argv),
                                           gc::runtime::PrintedText::IsTheResult);
}
