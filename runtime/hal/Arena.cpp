#include "runtime/hal/Arena.h"
#include "runtime/hal/allocation/Allocation.h"

#include <cerrno>
#include <cstring>
#include <omp.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace gc::runtime::hal {

constexpr size_t kHugePage = size_t(2) << 20;

Result<std::unique_ptr<HostArena>> HostArena::create(size_t bytes, size_t poolOffset,
                                                     size_t poolBytes, bool touch) {
  std::unique_ptr<HostArena> arena(new HostArena());
  arena->bytes_ = bytes;
  // Touching more memory than the system has would not fail: the system would kill the process.
  struct sysinfo machine = {};
  if (touch && ::sysinfo(&machine) == 0) {
    uint64_t memory = (uint64_t(machine.totalram) + machine.totalswap) * machine.mem_unit;
    if (bytes > memory)
      return runFailed("the plan needs an arena of " + std::to_string(bytes) +
                       " bytes, this machine has " + std::to_string(memory) +
                       "; compile it with a --budget");
  }
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  size_t needed = (bytes + page - 1) / page * page;
  if (needed == 0)
    needed = page;
  // The mapping is larger, so that the arena can start at a huge page. Bytes outside of it are
  // never touched.
  arena->mapped_ = needed + kHugePage;
  void *mapping = ::mmap(nullptr, arena->mapped_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return runFailed("cannot reserve an arena of " + std::to_string(bytes) +
                     " bytes: " + std::strerror(errno));
  arena->mapping_ = mapping;
  auto start = (reinterpret_cast<uintptr_t>(mapping) + kHugePage - 1) / kHugePage * kHugePage;
  arena->data_ = reinterpret_cast<std::byte *>(start);
  // Huge pages only where they are filled to the end: the tail would charge up to 2 MiB too much.
  if (size_t whole = needed / kHugePage * kHugePage)
    (void)::madvise(arena->data_, whole, MADV_HUGEPAGE);
  if (size_t tail = needed % kHugePage)
    (void)::madvise(arena->data_ + (needed - tail),
                    tail + (arena->mapped_ - needed) -
                        (start - reinterpret_cast<uintptr_t>(mapping)),
                    MADV_NOHUGEPAGE);
  if (touch) {
    auto *data = reinterpret_cast<volatile char *>(arena->data_);
    const int64_t pages = static_cast<int64_t>(needed / page);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < pages; ++i)
      data[static_cast<size_t>(i) * page] = 0;
    if (arena->residentBytes() < (bytes + page - 1) / page * page)
      return runFailed("the system gave only " + std::to_string(arena->residentBytes()) +
                       " of the arena's " + std::to_string(needed) + " bytes");
  }
  if (poolBytes) {
    arena->pool_ = allocation::addPool(arena->data_ + poolOffset, poolBytes);
    arena->poolOffset_ = poolOffset;
    arena->poolBytes_ = poolBytes;
  }
  return arena;
}

HostArena::~HostArena() {
  if (!mapping_)
    return;
  if (allocation::removePool(pool_)) {
    ::munmap(mapping_, mapped_);
    return;
  }
  // A library kept a transient, which it will free later, perhaps at exit: its pool stays, the rest
  // goes.
  const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<uintptr_t>(mapping_), end = begin + mapped_;
  auto pool = reinterpret_cast<uintptr_t>(data_ + poolOffset_);
  uintptr_t first = pool / page * page, last = (pool + poolBytes_ + page - 1) / page * page;
  if (first > begin)
    ::munmap(mapping_, first - begin);
  if (last < end)
    ::munmap(reinterpret_cast<void *>(last), end - last);
}

Status HostArena::write(size_t offset, std::span<const std::byte> source) {
  if (Status inside = checkRange(*this, offset, source.size()); !inside)
    return inside;
  if (!source.empty())
    std::memcpy(data_ + offset, source.data(), source.size());
  return {};
}

Status HostArena::read(size_t offset, std::span<std::byte> target) {
  if (Status inside = checkRange(*this, offset, target.size()); !inside)
    return inside;
  if (!target.empty())
    std::memcpy(target.data(), data_ + offset, target.size());
  return {};
}

uint64_t HostArena::residentBytes() const {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  unsigned char present[4096];
  uint64_t resident = 0;
  size_t pages = (bytes_ + page - 1) / page;
  for (size_t done = 0; done < pages; done += sizeof(present)) {
    size_t n = pages - done < sizeof(present) ? pages - done : sizeof(present);
    if (::mincore(data_ + done * page, n * page, present) != 0)
      return resident;
    for (size_t i = 0; i < n; ++i)
      resident += (present[i] & 1) ? page : 0;
  }
  return resident;
}

} // namespace gc::runtime::hal
