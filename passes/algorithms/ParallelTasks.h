//===- ParallelTasks.h - numbered tasks on a few threads ---------*- C++ -*-===//
#ifndef GC_PASSES_ALGORITHMS_PARALLELTASKS_H
#define GC_PASSES_ALGORITHMS_PARALLELTASKS_H

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace gc {

/// Calls task(0) .. task(count - 1), started in this order, on at most `threads` threads, the
/// caller's among them. Tasks must not throw.
template <typename Task> void runTasks(int count, int threads, Task task) {
  std::atomic<int> next{0};
  auto work = [&] {
    for (int index = next++; index < count; index = next++)
      task(index);
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < std::min(threads, count); ++i)
    helpers.emplace_back(work);
  work();
}

/// value = min(value, candidate), atomically.
inline void lowerTo(std::atomic<int> &value, int candidate) {
  int current = value.load();
  while (candidate < current && !value.compare_exchange_weak(current, candidate)) {
  }
}

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PARALLELTASKS_H
