// gc-run: trains. Everything happens elsewhere; see Arguments.cpp for the flags.
#include "tools/gc-run/LoadModel.h"
#include "tools/gc-run/SelfTest.h"

#include <cstdio>

static int fail(const gc::runtime::Error &error) {
  std::fprintf(stderr, "gc-run: %s\n", error.message.c_str());
  return error.exitCode();
}

int main(int argc, char **argv) {
  ParsedArguments parsed = parseArguments(argc, argv);
  if (!parsed.run)
    return parsed.exitCode;
  Arguments &arguments = parsed.arguments;
  if (arguments.selftest)
    return selfTest(arguments.train.device, arguments.train.threads);
  gc::runtime::Result<gc::runtime::PlanFile> plan = loadModel(arguments);
  if (!plan)
    return fail(plan.error());
  if (gc::runtime::Result<void> done = trainPlan(*plan, arguments.train); !done)
    return fail(done.error());
  return 0;
}
