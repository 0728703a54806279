#include "runtime/trainer/Interrupt.h"

#include <csignal>

namespace gc::runtime {

static volatile std::sig_atomic_t requested = 0;
static struct sigaction formerInterrupt, formerTerminate;

static void onSignal(int) { requested = 1; }

InterruptGuard::InterruptGuard() {
  requested = 0;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  // RESETHAND gives the signal its default back after the first one: the second kills.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &formerInterrupt);
  sigaction(SIGTERM, &action, &formerTerminate);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &formerInterrupt, nullptr);
  sigaction(SIGTERM, &formerTerminate, nullptr);
}

bool interruptRequested() { return requested != 0; }

} // namespace gc::runtime
