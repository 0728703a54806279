//===- Compile.h - from model IR to a plan ----------------------*- C++ -*-===//
//
// The compiler's door: plain types only, so that tools which only want a plan see no MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_COMPILE_H
#define GC_COMPILER_COMPILE_H

#include "passes/FreezeWish.h"
#include "passes/OptimizerSettings.h"
#include "passes/PrecisionWish.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gc {

/// What is known of the machine that will run a plan for the CPU. A tool finds it out
/// (tools/calibration) and compileModel never does, so that the same options give the same plan.
struct MachineCosts {
  std::string name;  // whose rates these are, for reports: "calibrated AMD EPYC, 2 threads"
  std::string rates; // the text of what gc-run --calibrate writes; empty: built-in rates
  std::map<std::string, double> opSeconds; // of ops in earlier runs, by what they do (workText)
};

/// Which chains of ops run in parts of the batch, one part after the other (--gc-split).
struct SplitWish {
  bool automatic = true; // where it makes a budget possible or cheaper; no parts or chains then
  long parts = 1;        // 1: none
  std::string chains;    // as --gc-split takes them; empty: all that are worth it
};

struct CompileOptions {
  std::string device = "cpu";
  // CUDA.
  std::string target;                 // sm_80 ..., or a card: "RTX 4090"
  std::string targetProperties;       // instead: what the GPU at hand tells of itself, as JSON
  std::string cudaLibrary = "auto";   // the faster of both; cudnn; none: all is generated
  bool allowTf32 = false;             // products that round f32 operands
  bool allowNondeterministic = false; // engines whose bits may differ from run to run
  bool assemble = true;               // or leave that to the driver that loads the PTX
  OptimizerSettings optimizer;
  PrecisionWish precision;              // of products and of what is saved
  FreezeWish freeze;                    // which parameters are trained
  std::optional<double> labelSmoothing; // of the model's losses; without it: what the model says
  // Memory.
  long accumulate = 1; // micro-batches in a step
  bool accumulateAuto = false;
  SplitWish split;
  std::string remat = "none";
  uint64_t budgetBytes = 0;   // 0: none
  std::string costs;          // file of measured seconds or rates; wins over `machine`
  MachineCosts machine;       // cpu only
  bool keepGradients = false; // so that they can be dumped
  bool evaluate = false;      // also an inference-mode command list
  bool mixLabels = false;     // a loss of two labels and a share, for mixup and cutmix
  int threads = 0;            // that will run the plan; 0: all of this machine
  std::string dumpKernels;    // directory for the generated code
  bool check = false;         // replay what was made, independently of what made it
  bool explain = false;       // say what was decided and why
  int pareto = 0;             // budgets to report on; then no plan is made
};

struct CompileResult {
  std::vector<uint8_t> plan;
  std::string report;      // JSON
  int exitCode = 0;        // the tools end with it; README.md lists the codes
  std::string error;       // every diagnostic, one a line, when exitCode is not 0
  std::string check;       // what the replay has proven, when it was asked for
  std::string explanation; // what was decided and why, when it was asked for
  std::string warnings;    // every diagnostic, one a line, when exitCode is 0
};

/// Compiles the text of a module. `name` names the file in messages. Needs neither data nor device.
/// Never throws or exits: bad input comes back as an error.
CompileResult compileModel(const std::string &text, const std::string &name,
                           const CompileOptions &options);

} // namespace gc

#endif
