// What all sections of the self-test know.
#ifndef GC_TOOLS_SELFTEST_SELFTESTSETUP_H
#define GC_TOOLS_SELFTEST_SELFTESTSETUP_H

#include "compiler/cuda/DeviceModel.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/trainer/TrainPlan.h"
#include "tools/flags/ModelFile.h"
#include "tools/selftest/CaseProcess.h"
#include "tools/selftest/SelfTestNetworks.h"

struct SelfTestSetup {
  std::string device; // "cuda:1"
  int threads = 0;    // of the cpu device, which results are compared with
  bool quick = false;
  gc::cuda::DeviceModel model; // what code is compiled for
  std::string properties;      // what the driver says of it, as JSON
  std::string whyNoLibrary;    // empty: cuDNN can plan and run
  std::string whoElse;         // other processes on the GPU; empty: none is known of
  std::vector<SelfTestNetwork> networks, rateNetworks;
  SharedFiles files; // what one case leaves for later ones

  /// Reserves the names of all that is left in `files`.
  void shareFiles();

  gc::CompileOptions cpuOptions() const;
  gc::CompileOptions cudaOptions(const std::string &library = "none") const;
  /// A few steps on synthetic data, with nothing printed.
  gc::runtime::TrainOptions trainOptions(const std::string &device, uint64_t steps) const;
};

/// `stepSeconds`, where it is given, gets what the target's roofline says of a step.
gc::runtime::Result<gc::runtime::PlanFile> compileNetwork(const SelfTestNetwork &network,
                                                          const gc::CompileOptions &options,
                                                          double *stepSeconds = nullptr);
/// The plan of a network with options that have a name ("cpu", "generated", "cudnn"); compiled by
/// the first case that asks.
gc::runtime::Result<gc::runtime::PlanFile>
sharedPlan(const SelfTestSetup &setup, const SelfTestNetwork &network, const std::string &variant);

// Each section runs its cases, every one in a process of its own.

/// What is there: GPU, driver, NVML, cuDNN and one plan of it. Fills in the setup. The exit code
/// of a device that cannot be used at all; 0: it can.
int testDevice(SelfTestSetup &setup, CaseRunner &cases);
void testConformance(const SelfTestSetup &setup, CaseRunner &cases);
/// Loss and gradients of whole networks.
void testGradients(const SelfTestSetup &setup, CaseRunner &cases);
/// Each op of the networks on the same data, by two plans.
void testOps(const SelfTestSetup &setup, CaseRunner &cases);
/// A short training, and what it took of the device's memory.
void testTraining(const SelfTestSetup &setup, CaseRunner &cases);

/// What the GPU does in a second: {machine, threads, roofline, ...} as --costs reads it; null where
/// it could not be measured.
CaseReporter::Json measureRates(const SelfTestSetup &setup, CaseRunner &cases);

#endif // GC_TOOLS_SELFTEST_SELFTESTSETUP_H
