// gc-run: trains. Everything happens elsewhere; see Arguments.cpp for the flags.
#include "tools/flags/CommandLine.h"
#include "tools/gc-run/CalibrateMachine.h"
#include "tools/gc-run/LoadModel.h"
#include "tools/gc-run/SelfTest.h"
#include "tools/gc-run/VerifyModel.h"

int main(int argc, char **argv) {
  ParsedArguments parsed = parseArguments(argc, argv);
  if (!parsed.run)
    return parsed.exitCode;
  Arguments &arguments = parsed.arguments;
  if (arguments.selftest)
    return selfTest(arguments);
  if (arguments.verify) {
    gc::runtime::Result<void> identical = verifyModel(arguments);
    return identical ? 0 : failWith("gc-run", identical.error());
  }
  if (!arguments.calibrate.empty()) {
    gc::runtime::Result<void> done = calibrateMachine(arguments.calibrate, arguments.train.threads);
    return done ? 0 : failWith("gc-run", done.error());
  }
  gc::runtime::Result<gc::runtime::PlanFile> plan = loadModel(arguments);
  if (!plan)
    return failWith("gc-run", plan.error());
  if (gc::runtime::Result<void> done = trainPlan(*plan, arguments.train); !done)
    return failWith("gc-run", done.error());
  return 0;
}
