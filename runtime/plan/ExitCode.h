// The exit codes of all tools, in one list; README.md ("Exit codes and bad input") tells users the
// same. The list is beside the plan because that is the folder that compiler and runtime share.
#ifndef GC_RUNTIME_PLAN_EXITCODE_H
#define GC_RUNTIME_PLAN_EXITCODE_H

namespace gc::exits {

enum Code : int {
  Done = 0,
  RunFailed = 1, // a full disk, a loss that is not a number, a self-test that fails
  BadInput = 2,  // bad usage or bad input; nothing was written
  NoBudget = 3,  // a budget or a capacity cannot be met; the message names one that can
  Device = 4,    // a device or driver is missing or failing, or is not the one of the plan
};

/// A signal ends a tool with this plus the signal's number: 130 for Ctrl-C, 141 for a closed pipe.
inline constexpr int kSignalBase = 128;

} // namespace gc::exits

#endif // GC_RUNTIME_PLAN_EXITCODE_H
