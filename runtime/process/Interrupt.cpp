#include "runtime/process/Interrupt.h"

#include "runtime/process/TemporaryNames.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gc::runtime {

static constexpr int interrupts[3] = {SIGINT, SIGTERM, SIGHUP};
static volatile std::sig_atomic_t requested = 0;

const char *interruptName(int signal) {
  switch (signal) {
  case SIGINT:
    return "SIGINT";
  case SIGTERM:
    return "SIGTERM";
  case SIGHUP:
    return "SIGHUP";
  default:
    return "SIGPIPE";
  }
}

void endByInterrupt(int signal) {
  removeTemporaries();
  // write(), because printf is not for handlers; there is nobody to tell if it fails.
  for (const char *part : {static_cast<const char *>(program_invocation_short_name), ": ended by ",
                           interruptName(signal), "\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0)
      break;
  ::_exit(interruptExitCode(signal));
}

static void noteSignal(int signal) {
  // A broken pipe is no second thought of the user's.
  if (requested != 0 && requested != SIGPIPE)
    endByInterrupt(signal);
  requested = signal;
}

static void handle(int signal, void (*handler)(int), struct sigaction *former) {
  struct sigaction present;
  sigaction(signal, nullptr, &present);
  if (former)
    *former = present;
  if (present.sa_handler == SIG_IGN)
    return;
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void endOnInterrupts() {
  for (int signal : interrupts)
    handle(signal, endByInterrupt, nullptr);
}

InterruptGuard::InterruptGuard() {
  requested = 0;
  for (size_t i = 0; i < 3; ++i)
    handle(interrupts[i], noteSignal, &former[i]);
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < 3; ++i)
    sigaction(interrupts[i], &former[i], nullptr);
}

int interruptSignal() { return requested; }

void requestInterrupt(int signal) {
  if (requested == 0)
    requested = signal;
}

} // namespace gc::runtime
