//===- ParallelTasks.h - numbered tasks on a few threads ---------*- C++ -*-===//
#ifndef GC_PASSES_ALGORITHMS_PARALLELTASKS_H
#define GC_PASSES_ALGORITHMS_PARALLELTASKS_H

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <thread>
#include <vector>

namespace gc {

/// Runs `work` on as many further threads as it is told to add and the system has to give (a
/// std::thread would end the program where there is none, as this is built without exceptions).
template <typename Work> class HelperThreads {
public:
  explicit HelperThreads(Work &work) : work(work) {}
  HelperThreads(const HelperThreads &) = delete;
  ~HelperThreads() { join(); }
  /// False where the system gives no more.
  bool add() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, &work) != 0)
      return false;
    threads.push_back(thread);
    return true;
  }
  /// Waits until all have ended.
  void join() {
    for (pthread_t thread : threads)
      pthread_join(thread, nullptr);
    threads.clear();
  }

private:
  static void *run(void *work) {
    (*static_cast<Work *>(work))();
    return nullptr;
  }
  Work &work;
  std::vector<pthread_t> threads;
};

/// How many threads a search takes: what the machine has, and no more than searches use.
inline int searchThreads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

/// Calls task(0) .. task(count - 1), started in this order, on at most `threads` threads, the
/// caller's among them; on fewer where the system has no more. Tasks must not throw.
template <typename Task> void runTasks(int count, int threads, Task task) {
  std::atomic<int> next{0};
  auto work = [&] {
    for (int index = next++; index < count; index = next++)
      task(index);
  };
  HelperThreads helpers(work);
  for (int i = 1; i < std::min(threads, count) && helpers.add(); ++i)
    ;
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
