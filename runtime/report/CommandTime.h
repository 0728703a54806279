// How long one command of a plan took.
#ifndef GC_RUNTIME_REPORT_COMMANDTIME_H
#define GC_RUNTIME_REPORT_COMMANDTIME_H

#include <cstdint>
#include <string>

namespace gc::runtime {

struct CommandTime {
  std::string name;           // the op it came from
  std::string implementation; // what ran it: a kernel, or what the library answered
  std::string list;           // once, micro_batch, step, evaluate
  double flops = 0, bytesMoved = 0, secondsPredicted = 0;
  int op = -1; // as the compiler counts ops
  bool recomputed = false;
  uint64_t executions = 0;
  double seconds = 0, medianSeconds = 0; // of all executions; of one
  double lastBegin = 0, lastSeconds = 0; // of the last one; since the session began
};

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_COMMANDTIME_H
