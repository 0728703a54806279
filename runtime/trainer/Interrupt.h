// Ctrl-C: the first one asks the loop to end after the current step, a second one kills at once.
#ifndef GC_RUNTIME_TRAINER_INTERRUPT_H
#define GC_RUNTIME_TRAINER_INTERRUPT_H

namespace gc::runtime {

/// Catches SIGINT and SIGTERM while it lives; the former handlers come back afterwards.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;
};

/// Whether a signal came since the guard was made.
bool interruptRequested();

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_INTERRUPT_H
