#include "runtime/hal/allocation/Allocation.h"
#include "runtime/hal/Arena.h"
#include "runtime/hal/cpu/library/Library.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gc::runtime;

namespace {
// Not inlined and opaque, so that no request is optimized away.
__attribute__((noinline)) void *request(size_t bytes) {
  void *p = std::malloc(bytes);
  asm volatile("" : : "r"(p) : "memory");
  return p;
}

class Allocation : public testing::Test {
protected:
  void SetUp() override {
    if (!allocation::kCountsRequests)
      GTEST_SKIP() << "a sanitizer has replaced malloc: nothing is counted";
  }
};
} // namespace

TEST_F(Allocation, CountsOnlyInsideTheScope) {
  allocation::markExecutingThread();
  uint64_t before = allocation::counters().heap;
  std::free(request(100));
  EXPECT_EQ(allocation::counters().heap, before);
  void *p;
  {
    allocation::StepScope step(-1);
    p = request(100);
  }
  EXPECT_EQ(allocation::counters().heap, before + 1);
  std::free(p);
}

TEST_F(Allocation, CountsEveryKindOfRequest) {
  allocation::markExecutingThread();
  uint64_t before = allocation::counters().heap;
  {
    allocation::StepScope step(-1);
    void *all[6] = {request(8), std::calloc(2, 8), std::aligned_alloc(64, 64),
                    nullptr,    ::operator new(8), nullptr};
    ASSERT_EQ(posix_memalign(&all[3], 128, 128), 0);
    all[5] = std::realloc(nullptr, 32);
    asm volatile("" : : "r"(all) : "memory");
    for (int i : {0, 1, 2, 3, 5})
      std::free(all[i]);
    ::operator delete(all[4]);
  }
  EXPECT_EQ(allocation::counters().heap, before + 6);
}

TEST_F(Allocation, IgnoresOtherThreads) {
  uint64_t before = allocation::counters().heap;
  std::atomic<bool> go{false}, done{false};
  std::thread other([&] {
    while (!go)
      ;
    std::free(request(1000));
    done = true;
  });
  {
    allocation::StepScope step(-1);
    go = true;
    while (!done)
      ;
  }
  other.join();
  EXPECT_EQ(allocation::counters().heap, before);
}

TEST_F(Allocation, PoolAnswersAndReuses) {
  allocation::markExecutingThread();
  alignas(64) static char memory[64 * 1024];
  int pool = allocation::addPool(memory, sizeof(memory));
  ASSERT_GE(pool, 0);
  uint64_t heap = allocation::counters().heap;
  {
    allocation::StepScope step(pool);
    for (int i = 0; i < 1000; ++i) { // far more than fits at once
      char *p = static_cast<char *>(request(500));
      EXPECT_TRUE(p >= memory && p < memory + sizeof(memory));
      std::memset(p, i, 500);
      p = static_cast<char *>(std::realloc(p, 900));
      EXPECT_EQ(p[499], static_cast<char>(i));
      std::free(p);
    }
    void *aligned = std::aligned_alloc(4096, 4096);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % 4096, 0u);
    std::free(aligned);
  }
  EXPECT_EQ(allocation::counters().heap, heap);
  void *kept;
  {
    allocation::StepScope step(pool);
    kept = request(100);
    std::free(request(1 << 20)); // larger than the pool
  }
  EXPECT_EQ(allocation::counters().heap, heap + 1);
  EXPECT_FALSE(allocation::removePool(pool)) << "something is still alive in it";
  std::free(kept);
  EXPECT_TRUE(allocation::removePool(pool));
}

TEST_F(Allocation, AnArenaLeavesOnlyThePoolBehind) {
  allocation::markExecutingThread();
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t bytes = size_t(16) << 20, offset = (size_t(8) << 20) + 64, poolBytes = 64 * 1024;
  auto arena = hal::HostArena::create(bytes, offset, poolBytes, /*touch=*/true);
  ASSERT_TRUE(arena.ok());
  std::byte *data = (*arena)->hostData();
  char *kept;
  {
    allocation::StepScope step((*arena)->pool());
    kept = static_cast<char *>(request(100));
  }
  std::memset(kept, 7, 100);
  arena->reset();
  unsigned char present;
  EXPECT_EQ(::mincore(data, page, &present), -1) << "before the pool";
  EXPECT_EQ(::mincore(data + bytes - page, page, &present), -1) << "behind it";
  EXPECT_EQ(kept[99], 7);
  std::free(kept);
}

// What a library call takes from the pool it must give back before the step ends: a pool that holds
// something alive can never be unmapped. In a process of its own this is also the first
// call.
TEST_F(Allocation, LibraryCallsKeepNothing) {
#pragma omp parallel
  allocation::markExecutingThread();
  const int64_t B = 2, H = 3, S = 64, d = 64, D = H * d, E = 3 * D;
  cpu::MatMulSpec s; // attention scores from packed q and k: strides that only GEMM takes
  s.batch = {B, H}, s.m = S, s.n = S, s.k = d;
  s.a_strides = {S * E, d, E, 1}, s.b_strides = {S * E, d, 1, E},
  s.c_strides = {H * S * S, S * S, S, 1};
  auto call = cpu::MatMulCall::create(s);
  ASSERT_TRUE(call) << call.error().message;
  (*call)->warmUp();
  std::vector<float> packed(B * S * E), scores(B * H * S * S), pool(cpu::kTransientPoolBytes / 4);
  std::vector<float> workspace((*call)->workspaceBytes() / 4 + 1);
  uint64_t heap = allocation::counters().heap;
  int handle = allocation::addPool(pool.data(), cpu::kTransientPoolBytes);
  {
    allocation::StepScope step(handle);
    EXPECT_TRUE((*call)->execute(
        {packed.data(), packed.data() + D, scores.data(), nullptr, nullptr, workspace.data()}));
  }
  EXPECT_EQ(allocation::counters().heap, heap);
  ASSERT_TRUE(allocation::removePool(handle)) << (*call)->implementation() << " kept memory";
}
