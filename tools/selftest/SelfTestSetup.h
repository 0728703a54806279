// What all sections of the self-test know.
#ifndef GC_TOOLS_SELFTEST_SELFTESTSETUP_H
#define GC_TOOLS_SELFTEST_SELFTESTSETUP_H

#include "compiler/cuda/DeviceModel.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/trainer/TrainPlan.h"
#include "tools/flags/ModelFile.h"
#include "tools/selftest/Findings.h"
#include "tools/selftest/SelfTestNetworks.h"

struct SelfTestSetup {
  std::string device; // "cuda:1"
  int threads = 0;    // of the cpu device, which results are compared with
  bool quick = false;
  gc::cuda::DeviceModel model; // what code is compiled for
  std::string properties;      // what the driver says of it, as JSON
  std::string whyNoLibrary;    // empty: cuDNN can plan and run
  std::vector<SelfTestNetwork> networks;

  gc::CompileOptions cpuOptions() const;
  gc::CompileOptions cudaOptions(const std::string &library = "none") const;
  /// A few steps on synthetic data, with nothing printed.
  gc::runtime::TrainOptions trainOptions(const std::string &device, uint64_t steps) const;
};

/// `stepSeconds`, where it is given, gets what the target's roofline says of a step.
gc::runtime::Result<gc::runtime::PlanFile> compileNetwork(const SelfTestNetwork &network,
                                                          const gc::CompileOptions &options,
                                                          double *stepSeconds = nullptr);

void testGradients(const SelfTestSetup &setup, Findings &findings);
/// Each op of the networks on the same data, by two plans.
void testOps(const SelfTestSetup &setup, Findings &findings);
/// A short training, and what it took of the device's memory.
void testTraining(const SelfTestSetup &setup, Findings &findings);

#endif // GC_TOOLS_SELFTEST_SELFTESTSETUP_H
