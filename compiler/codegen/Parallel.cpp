//===- Parallel.cpp - Independent pieces of work on several threads -------===//
#include "compiler/codegen/Parallel.h"
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace gc::codegen {

llvm::Error inParallel(size_t count, unsigned threads,
                       llvm::function_ref<llvm::Error(size_t)> work) {
  if (threads == 0)
    threads = std::thread::hardware_concurrency();
  threads = std::clamp<unsigned>(threads, 1, std::max<size_t>(1, count));
  std::vector<std::string> errors(count);
  std::atomic<size_t> next = 0;
  auto takeTurns = [&] {
    for (size_t i = next++; i < count; i = next++)
      if (llvm::Error error = work(i))
        errors[i] = llvm::toString(std::move(error));
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back(takeTurns);
  takeTurns();
  for (std::thread &worker : workers)
    worker.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return llvm::Error::success();
}

} // namespace gc::codegen
