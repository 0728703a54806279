// Ctrl-C, and the other ways to ask a process to end: SIGTERM (a scheduler), SIGHUP (a closed
// terminal).
//
// A process that they end has the exit code 128 + signal: 130, 143, 129. While a guard lives, the
// first one only asks the loop to end after the current step, so that everything can be saved; the
// second one ends the process at once. A signal that was ignored from the start (nohup) stays
// ignored.
#ifndef GC_RUNTIME_PROCESS_INTERRUPT_H
#define GC_RUNTIME_PROCESS_INTERRUPT_H

#include "runtime/plan/ExitCode.h"

#include <csignal>

namespace gc::runtime {

/// From now on these signals end the process at once, with 128 + signal and without a temporary
/// file left.
void endOnInterrupts();

/// What they do: removes temporary files, says so on standard error, ends. A signal handler may
/// call it.
[[noreturn]] void endByInterrupt(int signal);

/// Only notes the first of these signals while it lives; the former handlers come back afterwards.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;

private:
  struct sigaction former[3];
};

/// The signal that came since the last guard was made; 0: none.
int interruptSignal();
inline bool interruptRequested() { return interruptSignal() != 0; }
/// As if the signal had come. For SIGPIPE, which is an error of a write here.
void requestInterrupt(int signal);

/// `SIGINT`
const char *interruptName(int signal);
inline int interruptExitCode(int signal) { return exits::kSignalBase + signal; }

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_INTERRUPT_H
