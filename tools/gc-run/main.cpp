// gc-run: trains. Everything happens elsewhere; see Arguments.cpp for the flags.
#include "runtime/process/Interrupt.h"
#include "runtime/process/StandardStreams.h"
#include "runtime/process/WaitPolicy.h"
#include "tools/calibration/MachineOrigin.h"
#include "tools/calibration/MachineRates.h"
#include "tools/flags/CommandLine.h"
#include "tools/gc-run/CalibrateMachine.h"
#include "tools/gc-run/CompareReference.h"
#include "tools/gc-run/LoadModel.h"
#include "tools/gc-run/SelfTest.h"
#include "tools/gc-run/VerifyModel.h"

using namespace gc::runtime;

static int train(Arguments &arguments) {
  Result<PlanFile> plan = loadModel(arguments);
  if (!plan)
    return failWith("gc-run", plan.error());
  TrainingReport report;
  arguments.train.timeFirstSteps = !arguments.noCalibrate;
  if (Status done = trainPlan(*plan, arguments.train, report); !done)
    return failWith("gc-run", done.error());
  if (!arguments.noCalibrate)
    keepOpTimes(report.opTimes, report.threads);
  if (!report.interrupted)
    return gc::exits::Done;
  if (interruptSignal() != SIGPIPE) // `gc-run ... | head -1` ends as quietly as any other tool
    std::fprintf(stderr, "gc-run: ended by %s after %llu steps; what was asked for is saved\n",
                 interruptName(interruptSignal()), static_cast<unsigned long long>(report.steps));
  return interruptExitCode(interruptSignal());
}

static int run(int argc, char **argv) {
  ParsedArguments parsed = parseArguments(argc, argv);
  if (!parsed.run)
    return parsed.exitCode;
  Arguments &arguments = parsed.arguments;
  describeMachine(arguments.train.origin);
  if (Status fine = checkFiles(arguments); !fine)
    return failWith("gc-run", fine.error());
  if (arguments.selftest)
    return selfTest(arguments);
  if (!arguments.verify && arguments.calibrate.empty() && arguments.reference.empty())
    return train(arguments);
  Status done = !arguments.reference.empty() ? compareReference(arguments)
                : arguments.verify           ? verifyModel(arguments)
                                   : calibrateMachine(arguments.calibrate, arguments.train.threads);
  return done ? gc::exits::Done : failWith("gc-run", done.error());
}

int main(int argc, char **argv) {
  prepareProcess();
  waitWithLittleSpinning(argv);
  return finishStandardOutput("gc-run", run(argc, argv), PrintedText::TellsAboutFiles);
}
