//===- OptionChecks.cpp - options that contradict themselves --------------===//
#include "compiler/OptionChecks.h"
#include "passes/ChooseStep.h"
#include "runtime/hal/cpu/library/Team.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace gc {

CompileOptions completed(const CompileOptions &options) {
  CompileOptions own = options;
  if (own.threads <= 0)
    own.threads = runtime::cpu::usableThreads();
  return own;
}

// Reads --remat; where that is no policy, `error` says what is expected.
static MemoryWishes readWishes(const CompileOptions &options, std::string &error) {
  MemoryWishes wishes;
  wishes.budgetBytes = static_cast<int64_t>(options.budgetBytes);
  wishes.policyAsWritten = "--remat=" + options.remat;
  auto [name, number] = StringRef(options.remat).split(':');
  wishes.policy = name.str();
  bool hasNumber = name.size() != options.remat.size();
  if (options.budgetBytes && options.remat != "none")
    error = "--budget and " + wishes.policyAsWritten +
            " exclude each other: the budget decides what is recomputed";
  else if (name == "checkpoints" &&
           (number.getAsInteger(10, wishes.checkpoints) || wishes.checkpoints < 0))
    error = wishes.policyAsWritten + ": expected checkpoints:N with N from 0 on";
  else if (name != "checkpoints" &&
           (hasNumber || !llvm::is_contained({"none", "all", "sqrt"}, name)))
    error = wishes.policyAsWritten + ": expected none, all, sqrt or checkpoints:N";
  return wishes;
}

std::string checkOptions(const CompileOptions &options) {
  if (options.accumulate < 1)
    return "--accumulate must be at least 1";
  if (options.accumulateAuto && !options.budgetBytes && !options.pareto)
    return "--accumulate=auto chooses by a budget, and there is none; add --budget=SIZE, or say "
           "--accumulate=K";
  if (options.split.parts < 1)
    return "--split must be at least 1 part";
  if (options.split.parts > 1 && (options.accumulateAuto || options.accumulate != 1))
    return "--split=N and --accumulate exclude each other: a micro-batch is not split again";
  if (std::string wrong = options.optimizer.check("--"); !wrong.empty())
    return wrong;
  if (std::string wrong = options.freeze.check("--freeze", "--train-only"); !wrong.empty())
    return wrong;
  if (std::string wrong = options.precision.check("--precision", "--precision-of"); !wrong.empty())
    return wrong;
  if (options.precision.isMixed() && options.device != "cpu")
    return "--precision=" + options.precision.type +
           " is not possible with --device=" + options.device +
           " yet: its kernels compute f32 alone; say --precision=f32";
  if (double e = options.labelSmoothing.value_or(0); !(e >= 0 && e < 1))
    return llvm::formatv("--label-smoothing={0}: expected a number from 0 on, below 1", e);
  std::string error;
  readWishes(options, error);
  return error;
}

MemoryWishes wishesOf(const CompileOptions &options) {
  std::string ignored;
  return readWishes(options, ignored);
}

} // namespace gc
