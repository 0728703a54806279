// Threads that make work faster but are not needed for it.
#ifndef GC_RUNTIME_HELPERTHREAD_H
#define GC_RUNTIME_HELPERTHREAD_H

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace gc::runtime {

/// Starts a thread; returns nothing where the system refuses one (a limit on processes or memory).
/// The caller then does the work itself or does without.
template <typename Work> std::optional<std::thread> tryThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error &) {
    return std::nullopt;
  }
}

} // namespace gc::runtime

#endif // GC_RUNTIME_HELPERTHREAD_H
