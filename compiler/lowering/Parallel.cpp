//===- Parallel.cpp - Independent pieces of work on several threads -------===//
#include "compiler/lowering/Parallel.h"
#include "passes/algorithms/ParallelTasks.h"
#include <string>
#include <thread>
#include <vector>

namespace gc::codegen {

llvm::Error inParallel(size_t count, unsigned threads,
                       llvm::function_ref<llvm::Error(size_t)> work) {
  if (threads == 0)
    threads = std::thread::hardware_concurrency();
  std::vector<std::string> errors(count);
  runTasks(static_cast<int>(count), static_cast<int>(threads), [&](int i) {
    if (llvm::Error error = work(i))
      errors[i] = llvm::toString(std::move(error));
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return llvm::Error::success();
}

} // namespace gc::codegen
