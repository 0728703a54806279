// One translation unit on purpose: whoever calls StepScope also gets the malloc family below, so
// that counting can never be linked away.
#include "runtime/hal/allocation/Allocation.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
}

namespace gc::runtime::allocation {
namespace {

constexpr int kPools = 64;
constexpr int kClasses = 40;
constexpr size_t kHeader = 64; // keeps payloads on cache lines

/// In front of every payload.
struct Header {
  char *block;      // where the block starts
  size_t requested; // for realloc
  int sizeClass;    // the block has 2^sizeClass bytes
};
static_assert(sizeof(Header) <= kHeader);

struct Pool {
  std::atomic<char *> base{nullptr};
  std::atomic<size_t> bytes{0};
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  size_t used = 0; // bump pointer; blocks return to the free lists, never to here
  size_t live = 0;
  char *freeBlocks[kClasses] = {};
};

Pool pools[kPools];
std::atomic<int> poolCount{0}; // highest registered index + 1, so that free() looks no further
std::atomic<bool> armed{false};
std::atomic<int> armedPool{-1};
std::atomic<uint64_t> heapRequests{0}, heapBytes{0}, poolRequests{0};
__attribute__((tls_model("initial-exec"))) thread_local bool executing = false;

struct Locked {
  std::atomic_flag &flag;
  explicit Locked(std::atomic_flag &flag) : flag(flag) {
    while (flag.test_and_set(std::memory_order_acquire))
      ;
  }
  ~Locked() { flag.clear(std::memory_order_release); }
};

[[maybe_unused]] Pool *poolOf(const void *pointer) {
  auto *p = static_cast<const char *>(pointer);
  for (int i = 0, n = poolCount.load(std::memory_order_acquire); i < n; ++i) {
    char *base = pools[i].base.load(std::memory_order_relaxed);
    if (base && p >= base && p < base + pools[i].bytes.load(std::memory_order_relaxed))
      return &pools[i];
  }
  return nullptr;
}

Header *headerOf(void *payload) {
  return reinterpret_cast<Header *>(static_cast<char *>(payload) - kHeader);
}

void *poolAllocate(Pool &pool, size_t bytes, size_t alignment) {
  size_t slack = alignment > kHeader ? alignment : 0;
  if (bytes > pool.bytes || slack > pool.bytes)
    return nullptr;
  size_t need = bytes + kHeader + slack;
  int sizeClass = 7;
  while (sizeClass < kClasses && (size_t(1) << sizeClass) < need)
    ++sizeClass;
  if (sizeClass == kClasses)
    return nullptr;
  Locked guard(pool.lock);
  char *block = pool.freeBlocks[sizeClass];
  if (block) {
    std::memcpy(&pool.freeBlocks[sizeClass], block, sizeof(char *));
  } else {
    size_t size = size_t(1) << sizeClass;
    if (size > pool.bytes - pool.used)
      return nullptr;
    block = pool.base + pool.used;
    pool.used += size;
  }
  ++pool.live;
  auto payload = reinterpret_cast<uintptr_t>(block) + kHeader;
  if (slack)
    payload = (payload + alignment - 1) & ~(uintptr_t(alignment) - 1);
  Header *header = headerOf(reinterpret_cast<void *>(payload));
  header->block = block;
  header->requested = bytes;
  header->sizeClass = sizeClass;
  return reinterpret_cast<void *>(payload);
}

[[maybe_unused]] void poolFree(Pool &pool, void *payload) {
  Header *header = headerOf(payload);
  char *block = header->block;
  int sizeClass = header->sizeClass;
  Locked guard(pool.lock);
  std::memcpy(block, &pool.freeBlocks[sizeClass], sizeof(char *));
  pool.freeBlocks[sizeClass] = block;
  --pool.live;
}

/// From the armed pool when this thread is executing a step; null: ask the heap (already counted).
[[maybe_unused]] void *allocateInStep(size_t bytes, size_t alignment) {
  if (!executing || !armed.load(std::memory_order_relaxed)) [[likely]]
    return nullptr;
  int index = armedPool.load(std::memory_order_relaxed);
  if (index >= 0)
    if (void *payload = poolAllocate(pools[index], bytes, alignment)) {
      poolRequests.fetch_add(1, std::memory_order_relaxed);
      return payload;
    }
  heapRequests.fetch_add(1, std::memory_order_relaxed);
  heapBytes.fetch_add(bytes, std::memory_order_relaxed);
  return nullptr;
}

} // namespace

void markExecutingThread() { executing = true; }

int addPool(void *base, size_t bytes) {
  if (!base || bytes < 4096)
    return -1;
  for (int i = 0; i < kPools; ++i) {
    if (pools[i].base.load())
      continue;
    pools[i].used = pools[i].live = 0;
    std::memset(pools[i].freeBlocks, 0, sizeof(pools[i].freeBlocks));
    pools[i].bytes = bytes;
    pools[i].base = static_cast<char *>(base);
    if (poolCount < i + 1)
      poolCount = i + 1;
    return i;
  }
  return -1;
}

bool removePool(int index) {
  if (index < 0)
    return true;
  Locked guard(pools[index].lock);
  if (pools[index].live != 0)
    return false; // stays registered: late frees still find it
  pools[index].base = nullptr;
  return true;
}

StepScope::StepScope(int pool) {
  armedPool.store(pool, std::memory_order_relaxed);
  armed.store(true, std::memory_order_release);
}
StepScope::~StepScope() { armed.store(false, std::memory_order_release); }

Counters counters() { return {heapRequests.load(), heapBytes.load(), poolRequests.load()}; }

size_t poolPeakBytes(int pool) { return pool < 0 ? 0 : pools[pool].used; }

} // namespace gc::runtime::allocation

#ifndef GC_SANITIZED
using namespace gc::runtime::allocation;

extern "C" {

void *malloc(size_t bytes) {
  if (void *p = allocateInStep(bytes, 16))
    return p;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes))
    if (void *p = allocateInStep(bytes, 16))
      return std::memset(p, 0, bytes);
  return __libc_calloc(count, size);
}

void free(void *pointer) {
  if (!pointer)
    return;
  if (Pool *pool = poolOf(pointer))
    poolFree(*pool, pointer);
  else
    __libc_free(pointer);
}

void *realloc(void *pointer, size_t bytes) {
  if (!pointer)
    return malloc(bytes);
  Pool *pool = poolOf(pointer);
  if (!pool) {
    // A heap block stays in the heap; growing it inside a step is a request that counts.
    if (executing && armed.load(std::memory_order_relaxed)) {
      heapRequests.fetch_add(1, std::memory_order_relaxed);
      heapBytes.fetch_add(bytes, std::memory_order_relaxed);
    }
    return __libc_realloc(pointer, bytes);
  }
  void *moved = malloc(bytes);
  if (!moved)
    return nullptr;
  size_t old = headerOf(pointer)->requested;
  std::memcpy(moved, pointer, old < bytes ? old : bytes);
  poolFree(*pool, pointer);
  return moved;
}

void *memalign(size_t alignment, size_t bytes) {
  if (void *p = allocateInStep(bytes, alignment))
    return p;
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **result, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  void *p = memalign(alignment, bytes);
  if (!p)
    return ENOMEM;
  *result = p;
  return 0;
}

size_t malloc_usable_size(void *pointer) {
  if (pointer && poolOf(pointer))
    return headerOf(pointer)->requested;
  using Function = size_t (*)(void *);
  static Function next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return next ? next(pointer) : 0;
}

} // extern "C"
#endif // GC_SANITIZED
