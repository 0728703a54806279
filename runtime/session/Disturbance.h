// What else happened on the machine while something was timed.
#ifndef GC_RUNTIME_SESSION_DISTURBANCE_H
#define GC_RUNTIME_SESSION_DISTURBANCE_H

namespace gc::runtime {

/// A moment of this process, and what has disturbed it so far.
struct Disturbance {
  double seconds = 0;       ///< of a clock
  double waitedSeconds = 0; ///< that the first thread was ready but had no CPU; 0 where unknown
  long pagesFromDisk = 0;   ///< major page faults: swapped out, or mapped from a file

  static Disturbance now();

  /// The part of the time since then in which the first thread waited for a CPU.
  double waitedSince(const Disturbance &begin) const;
  /// Whether a time that was taken since then says little about an undisturbed machine.
  bool spoils(const Disturbance &begin) const;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_SESSION_DISTURBANCE_H
