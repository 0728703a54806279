#include "test/runtime/io/HeapRequests.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> requests{0};

long heapRequests() { return requests.load(); }

void *operator new(size_t bytes) {
  requests.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
