// Kernels, library graphs, and the commands that use them.
#include "runtime/plan/KernelLimits.h"
#include "runtime/plan/PlanChecker.h"

#include <cstring>
#include <string_view>
#include <unordered_set>

using namespace gc::plan;

namespace gc::runtime {

/// Drivers find the end of a cubin by its section table: that must be inside.
static bool isWholeCubin(const flatbuffers::Vector<uint8_t> &bytes) {
  constexpr size_t kHeader = 64;
  if (bytes.size() < kHeader || std::memcmp(bytes.data(),
                                            "\x7f"
                                            "ELF\x02\x01",
                                            6) != 0)
    return false;
  auto number = [&](size_t at, size_t width) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    return value;
  };
  uint64_t table = number(40, 8), entry = number(58, 2), entries = number(60, 2);
  if (entry != 64 || add(table, multiply(entry, entries)) > bytes.size())
    return false;
  for (uint64_t i = 0; i < entries; ++i) {
    constexpr uint64_t kNoBits = 8;
    uint64_t at = table + i * entry;
    if (number(at + 4, 4) != kNoBits && add(number(at + 24, 8), number(at + 32, 8)) > bytes.size())
      return false;
  }
  return true;
}

bool PlanChecker::checkKernels() {
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < symbols(); ++i) {
    const flatbuffers::String &name = *plan.kernels()->symbols()->Get(i);
    if (name.size() == 0)
      return fail("kernel " + std::to_string(i) + " has no name");
    if (!names.insert(name.string_view()).second)
      return fail("kernel " + quote(&name) + " is there twice");
  }
  size_t images = plan.kernels() ? count(plan.kernels()->images()) : 0;
  if (symbols() > 0 && count(plan.kernels()->object()) == 0 && images == 0)
    return fail("kernels are named but there is no object code");
  size_t limits = plan.kernels() ? count(plan.kernels()->limits()) : 0;
  if (limits != symbols())
    return fail(std::to_string(symbols()) + " kernels, but limits of " + std::to_string(limits));
  for (size_t i = 0; i < images; ++i) {
    const KernelImage &image = *plan.kernels()->images()->Get(i);
    std::string where = "kernel image " + std::to_string(i);
    uint32_t first = image.first_symbol();
    bool follows =
        i == 0 ? first == 0 : first > plan.kernels()->images()->Get(i - 1)->first_symbol();
    if (!follows || first >= symbols())
      return fail(where + " starts at kernel " + std::to_string(first) + " of " +
                  std::to_string(symbols()) + ", out of order");
    if (image.ptx()->size() == 0)
      return fail(where + " has no text");
    if (image.cubin() && !isWholeCubin(*image.cubin()))
      return fail(where + " has a cubin that is truncated or none");
  }
  return true;
}

bool PlanChecker::checkGraphs() {
  for (size_t i = 0; i < count(plan.graphs()); ++i)
    if (plan.graphs()->Get(i)->plan()->size() == 0)
      return fail("library graph " + quote(plan.graphs()->Get(i)->name()) + " is empty");
  return true;
}

/// One entry a buffer, each known.
bool PlanChecker::checkAccess(const flatbuffers::Vector<uint8_t> *access, size_t operands) {
  if (count(access) != operands)
    return fail(std::to_string(operands) + " buffers, but access to " +
                std::to_string(count(access)));
  for (size_t i = 0; i < operands; ++i)
    if (access->Get(i) > Access_MAX)
      return fail("unknown access");
  return true;
}

bool PlanChecker::checkDispatch(const Dispatch &d) {
  if (d.kernel() >= symbols())
    return fail("kernel " + std::to_string(d.kernel()) + " of " + std::to_string(symbols()));
  if (count(plan.kernels()->object()) == 0)
    return fail("kernel " + std::to_string(d.kernel()) + " is not for a CPU");
  for (size_t i = 0; i < count(d.buffers()); ++i)
    if (!inRange(d.buffers()->Get(i), "kernel operand"))
      return false;
  return checkLimits(d.kernel(), d.items(), d.buffers());
}

/// What kernels do is in their machine code, which nobody can verify; but they do it for as many
/// items and in as many bytes as they were generated for.
bool PlanChecker::checkLimits(uint32_t kernel, uint64_t items,
                              const flatbuffers::Vector<uint32_t> *operands) {
  const KernelLimits &limits = *plan.kernels()->limits()->Get(kernel);
  if (items > limits.items())
    return fail(std::to_string(items) + " items, the kernel was generated for " +
                std::to_string(limits.items()));
  if (count(operands) != count(limits.bytes()))
    return fail(std::to_string(count(operands)) + " buffers, the kernel has " +
                std::to_string(count(limits.bytes())));
  for (size_t i = 0; i < count(operands); ++i)
    if (const Buffer &b = buffer(operands->Get(i)); b.bytes() < limits.bytes()->Get(i))
      return fail("buffer " + quote(b.name()) + " has " + std::to_string(b.bytes()) +
                  " bytes, the kernel uses " + std::to_string(limits.bytes()->Get(i)));
  return true;
}

static std::string text(const Extent &e) {
  return std::to_string(e.x()) + " x " + std::to_string(e.y()) + " x " + std::to_string(e.z());
}

/// The limits are CUDA's, the same for every device; shared memory's is the largest there is.
bool PlanChecker::checkLaunch(const Launch &l) {
  if (l.kernel() >= symbols() || count(plan.kernels()->images()) == 0)
    return fail("kernel " + std::to_string(l.kernel()) + " of " + std::to_string(symbols()) +
                (symbols() ? ", which are not for a GPU" : ""));
  constexpr size_t kParameters = 4096 / 8; // all parameters take at most 4 KiB
  if (count(l.buffers()) > kParameters)
    return fail("more than " + std::to_string(kParameters) + " buffers");
  for (size_t i = 0; i < count(l.buffers()); ++i)
    if (!inRange(l.buffers()->Get(i), "kernel operand"))
      return false;
  const Extent &grid = *l.grid(), &block = *l.block();
  if (grid.x() < 1 || grid.y() < 1 || grid.z() < 1 || grid.x() > 0x7fffffff || grid.y() > 65535 ||
      grid.z() > 65535)
    return fail("a grid of " + text(grid) + " is not possible");
  if (block.x() < 1 || block.y() < 1 || block.z() < 1 || block.x() > 1024 || block.y() > 1024 ||
      block.z() > 64 || block.x() * block.y() * block.z() > 1024)
    return fail("a block of " + text(block) + " is not possible");
  if (l.shared_bytes() > 227 * 1024)
    return fail("no device has " + std::to_string(l.shared_bytes()) +
                " bytes of shared memory for a block");
  return checkLimits(l.kernel(), blocksOf(grid), l.buffers()) &&
         checkAccess(l.access(), count(l.buffers()));
}

bool PlanChecker::checkGraphCall(const GraphCall &g) {
  if (g.graph() >= count(plan.graphs()))
    return fail("graph " + std::to_string(g.graph()) + " of " +
                std::to_string(count(plan.graphs())));
  if (count(g.ids()) != count(g.buffers()) || count(g.scalar_ids()) != count(g.scalars()))
    return fail("as many ids as tensors and as many as scalars are needed");
  std::unordered_set<int64_t> ids;
  for (const auto *list : {g.ids(), g.scalar_ids()})
    for (size_t i = 0; i < count(list); ++i)
      if (!ids.insert(list->Get(i)).second)
        return fail("id " + std::to_string(list->Get(i)) + " is bound twice");
  for (size_t i = 0; i < count(g.buffers()); ++i) {
    const View &view = *g.buffers()->Get(i);
    if (!inRange(view.buffer(), "graph operand"))
      return false;
    const Buffer &b = buffer(view.buffer());
    if (multiply(view.offset(), elementBytes(b.dtype())) >= b.bytes())
      return fail("starts behind the end of " + quote(b.name()));
  }
  if (!checkAccess(g.access(), count(g.buffers())) || !checkWorkspace(g.workspace(), {}))
    return false;
  for (size_t i = 0; i < count(g.twin()); ++i)
    if (!checkLaunch(*g.twin()->Get(static_cast<uint32_t>(i))))
      return false;
  uint64_t has = g.workspace() == -1 ? 0 : buffer(g.workspace()).bytes();
  uint64_t needs = plan.graphs()->Get(g.graph())->workspace_bytes();
  return needs <= has || fail("graph " + quote(plan.graphs()->Get(g.graph())->name()) + " needs " +
                              std::to_string(needs) + " bytes of workspace, the command has " +
                              std::to_string(has));
}

} // namespace gc::runtime
