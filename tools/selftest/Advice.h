// What kinds of trouble a first run on a GPU meets, and what to do about each.
#ifndef GC_TOOLS_SELFTEST_ADVICE_H
#define GC_TOOLS_SELFTEST_ADVICE_H

#include <string>

enum class Problem {
  WrongResult, // it ran, and the numbers are beyond their bound
  KernelFault, // the GPU stopped a kernel: a bad address, instruction or launch
  Watchdog,    // the driver ended a kernel that took seconds
  Memory,      // the GPU's memory is too small, or others hold it
  OldDriver,   // the driver does not know our code
  Library,     // cuDNN: not restored, refused, another version
  NotReady,    // the machine keeps us from the GPU: another process, a service, its installation
  Refused,     // the driver refused a call of ours
  Device,      // the GPU or its driver gave up
  Crash,       // the process was ended by a signal
  Hang,        // the process had to be ended
  Host,        // this machine: no memory, no processes, no compiler
  Unknown,     // a message that none of the above knows
};
constexpr size_t kProblems = 13;

/// By the names that CUDA and cuDNN give their errors, which our messages keep.
Problem problemOf(const std::string &message);
/// "wrong-result", for files.
const char *problemName(Problem problem);
/// What was seen, in a few words; what to do next, in a sentence or two.
const char *problemText(Problem problem);
const char *nextStep(Problem problem);
/// The same with the flags that run this case alone, where the sentence has flags for a case.
std::string nextStep(Problem problem, const std::string &section, const std::string &name);

#endif // GC_TOOLS_SELFTEST_ADVICE_H
