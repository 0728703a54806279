//===- Help.cpp - gc-opt's own --help -------------------------------------===//
#include "tools/gc-opt/Help.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::opt {
namespace {

/// First what prepares a model, then in the order in which `--gc-train` runs them. A test finds
/// what passes/Passes.td has besides.
constexpr llvm::StringLiteral kPasses[] = {
    "gc-batch",      "gc-check-model",     "gc-simplify",      "gc-freeze",      "gc-smooth-labels",
    "gc-split",      "gc-inference",       "gc-mix-labels",    "gc-autodiff",    "gc-optimizer",
    "gc-accumulate", "gc-mixed-precision", "gc-expand",        "gc-fuse",        "gc-select-cpu",
    "gc-schedule",   "gc-plan-step",       "gc-rematerialize", "gc-plan-memory", "gc-check-memory"};

constexpr llvm::StringLiteral kBeginning = R"(gc-opt: passes on gc IR

usage: gc-opt [MODEL.mlir] [passes] [-o FILE]        (without MODEL.mlir: standard input)

examples:
  gc-opt models/mlp.mlir --gc-autodiff                 the backward pass of a small network
  gc-opt models/mlp.mlir --gc-train                    the whole step, with every offset in memory
  gc-opt models/mlp.mlir --gc-train="optimizer=adam lr=0.001 policy=all"
  gc-opt models/mlp.mlir --gc-batch=size=8 -o mlp8.mlir   the same model for a batch of 8
  gc-gen resnet | gc-opt --gc-autodiff --gc-optimizer="kind=sgd momentum=0.9" --gc-fuse -o step.mlir
  gc-opt models/mlp.mlir --gc-train --mlir-print-ir-after-all 2>passes.txt    after every pass

Passes run in the order in which they are given. Options of a pass are one argument:
--gc-optimizer="kind=adam lr=0.001". What each pass requires and guarantees: docs/passes.md.

passes, in the order in which --gc-train runs them, up to --gc-plan-step; --gc-batch makes another
model for it, --gc-rematerialize and --gc-plan-memory are the two halves of --gc-plan-step, and
--gc-check-memory proves the outcome:
)";

constexpr llvm::StringLiteral kEnd = R"(
flags:
  -o FILE                     where the IR goes (-: standard output, which is the default)
  --split-input-file          several modules in one file, with lines of // ----- between them
  --verify-diagnostics        expects the errors that comments of the input announce
  --mlir-print-ir-after-all   prints the IR after every pass to standard error
  --mlir-print-debuginfo      prints locations, which are the names of layers
  --mlir-timing               how long each pass took
  --show-dialects, --list-passes
  --help, --version
  --help-hidden               everything else: MLIR's own passes and options, some thousand lines

exit codes: 0 done, 1 the output cannot be written, 2 bad usage or input, 3 a budget cannot be met
)";

/// `text` in lines of at most 100 columns, broken at spaces.
void printWrapped(llvm::StringRef first, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  llvm::outs() << first;
  size_t column = first.size();
  for (llvm::StringRef word : words) {
    if (column + 1 + word.size() > 100) {
      llvm::outs() << "\n";
      llvm::outs().indent(first.size());
      column = first.size();
    }
    llvm::outs() << " " << word;
    column += 1 + word.size();
  }
  llvm::outs() << "\n";
}

/// `lr=1.000000e-03` as people write it: `lr=0.001`.
std::string readable(llvm::StringRef setting) {
  auto [name, value] = setting.split('=');
  double number;
  if (value.getAsDouble(number))
    return setting.str();
  std::string text;
  llvm::raw_string_ostream(text) << name << "=" << llvm::format("%g", number);
  return text;
}

/// What a pass or pipeline consists of when no option is given, as MLIR writes it.
std::string textWithDefaults(const PassRegistryEntry &entry) {
  OpPassManager passes(OpPassManager::Nesting::Implicit);
  if (failed(entry.addToPipeline(passes, "", [](const Twine &) { return failure(); })))
    llvm::report_fatal_error("gc-opt: '" + entry.getPassArgument() + "' refuses its own defaults");
  std::string text;
  llvm::raw_string_ostream out(text);
  passes.printAsTextualPipeline(out);
  return text;
}

/// The settings between the braces of `any(gc-optimizer{kind=sgd lr=1.000000e-03})`; those that are
/// empty by default, or whose default the description tells, are left out.
std::string defaultsOf(const PassRegistryEntry &entry) {
  std::string text = textWithDefaults(entry);
  llvm::StringRef inBraces = llvm::StringRef(text).split('{').second.rsplit('}').first;
  llvm::SmallVector<llvm::StringRef> settings;
  inBraces.split(settings, ' ', -1, /*KeepEmpty=*/false);
  std::string defaults;
  for (llvm::StringRef setting : settings)
    if (!setting.ends_with("=") && !setting.ends_with("=default"))
      defaults += readable(setting) + " ";
  return defaults;
}

} // namespace

bool asksForHelp(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    if (argument == "--help" || argument == "-help" || argument == "-h")
      return true;
  }
  return false;
}

void printHelp() {
  constexpr size_t kIndent = 2, kDescriptions = 34;
  llvm::outs() << kBeginning;
  for (llvm::StringRef name : kPasses) {
    const PassInfo *pass = PassInfo::lookup(name);
    if (!pass)
      llvm::report_fatal_error("gc-opt: --help lists '" + name + "', which is no pass");
    pass->printHelpStr(kIndent, kDescriptions);
    if (std::string defaults = defaultsOf(*pass); !defaults.empty())
      printWrapped("    defaults:", defaults);
  }
  const PassPipelineInfo *train = PassPipelineInfo::lookup("gc-train");
  if (!train)
    llvm::report_fatal_error("gc-opt: --help lists 'gc-train', which is no pipeline");
  llvm::outs() << "\nthe whole pipeline:\n";
  train->printHelpStr(kIndent, kDescriptions);
  printWrapped("    defaults:", "those of the passes; one micro-batch, no inference mode");
  llvm::outs() << kEnd;
}

} // namespace gc::opt
