#include "runtime/plan/PlanChecker.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

using namespace gc::plan;

namespace gc::runtime {
namespace {

// Far above what any network needs; what is larger is a mistake or an attack.
constexpr int64_t kMaxBatch = int64_t(1) << 31;
constexpr int64_t kMaxClasses = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxRank = 8;
constexpr uint32_t kMaxThreads = 4096;
constexpr uint64_t kArenaSlack = 4096; // a compiler may round its size up to a page

/// Elements of a shape; kHuge when a dimension is negative or the product overflows.
uint64_t elements(const flatbuffers::Vector<int64_t> *shape) {
  uint64_t n = 1;
  for (size_t i = 0; i < count(shape); ++i)
    n = shape->Get(i) < 0 ? kHuge : multiply(n, static_cast<uint64_t>(shape->Get(i)));
  return n;
}

bool isPermutation(const flatbuffers::Vector<int32_t> &axes) {
  std::unordered_set<int32_t> seen;
  for (int32_t axis : axes)
    if (axis < 0 || static_cast<size_t>(axis) >= axes.size() || !seen.insert(axis).second)
      return false;
  return true;
}

} // namespace

Status PlanChecker::run() {
  if (!checkHeader() || !checkBuffers() || !checkKernels() || !checkGraphs() || !checkVariables() ||
      !checkInputs() || !checkMetrics() || !checkOutputs() || !checkContracts() ||
      !checkList(plan.once(), "once") || !checkList(plan.micro_batch(), "micro_batch") ||
      !checkList(plan.step(), "step") || !checkList(plan.evaluate(), "evaluate"))
    return badInput(message);
  return {};
}

bool PlanChecker::checkHeader() {
  if (plan.batch() < 1 || plan.micro_batches() < 1 || plan.micro_batches() > plan.batch())
    return fail("batch " + std::to_string(plan.batch()) + " cannot be done in " +
                std::to_string(plan.micro_batches()) + " micro-batches");
  if (plan.batch() > kMaxBatch || plan.batch() % plan.micro_batches() != 0)
    return fail("a batch of " + std::to_string(plan.batch()) + " in " +
                std::to_string(plan.micro_batches()) + " micro-batches is not possible");
  if (plan.parameters() < 0 || plan.classes() < 0 || plan.classes() > kMaxClasses)
    return fail(std::to_string(plan.parameters()) + " parameters and " +
                std::to_string(plan.classes()) + " classes are not possible");
  if (plan.target()->threads() > kMaxThreads)
    return fail("compiled for " + std::to_string(plan.target()->threads()) + " threads, expected " +
                std::to_string(kMaxThreads) + " at most");
  if (plan.arena_bytes() > (uint64_t(1) << 47))
    return fail("an arena of " + std::to_string(plan.arena_bytes()) +
                " bytes is larger than the address space");
  return true;
}

bool PlanChecker::checkBuffers() {
  uint64_t end = 0;
  for (size_t i = 0; i < buffers; ++i) {
    const Buffer &b = buffer(i);
    std::string where = "buffer " + quote(b.name());
    if (b.kind() > BufferKind_MAX || !elementTypeOf(b.dtype()))
      return fail(where + " has an unknown kind or dtype");
    if (b.offset() % kBufferAlignment != 0)
      return fail(where + " starts at " + std::to_string(b.offset()) + ", not a multiple of 64");
    if (add(b.offset(), b.bytes()) > plan.arena_bytes())
      return fail(where + " ends at byte " + std::to_string(add(b.offset(), b.bytes())) +
                  " of an arena of " + std::to_string(plan.arena_bytes()));
    end = std::max(end, b.offset() + b.bytes());
    if (count(b.shape()) > kMaxRank)
      return fail(where + " has " + std::to_string(count(b.shape())) + " dimensions, expected " +
                  std::to_string(kMaxRank) + " at most");
    if (multiply(elements(b.shape()), elementBytes(b.dtype())) > b.bytes())
      return fail(where + " has a shape that does not fit in its " + std::to_string(b.bytes()) +
                  " bytes");
    if (!checkLife(b) || !checkPartOf(i))
      return false;
  }
  // All of the arena is touched when it is made.
  if (plan.arena_bytes() >= add(end, kArenaSlack))
    return fail("an arena of " + std::to_string(plan.arena_bytes()) +
                " bytes, but its buffers end at " + std::to_string(end));
  return true;
}

bool PlanChecker::checkLife(const Buffer &b) {
  auto commands = [](const CommandList *list) { return list ? count(list->commands()) : 0; };
  size_t all = b.evaluate() ? commands(plan.evaluate())
                            : commands(plan.micro_batch()) + commands(plan.step());
  if (b.first_command() > b.last_command())
    return fail("buffer " + quote(b.name()) + " dies before it is born");
  // -1 and `all`: of an op without commands, at the beginning or the end.
  if (b.first_command() < -1 || b.last_command() > static_cast<int64_t>(all))
    return fail("buffer " + quote(b.name()) + " lives from command " +
                std::to_string(b.first_command()) + " to " + std::to_string(b.last_command()) +
                " of " + std::to_string(all));
  return true;
}

/// The whole comes before its parts, so that following them ends.
bool PlanChecker::checkPartOf(size_t index) {
  const Buffer &part = buffer(index);
  if (part.part_of() == -1)
    return true;
  std::string where = "buffer " + quote(part.name());
  if (part.part_of() < 0 || static_cast<size_t>(part.part_of()) >= index)
    return fail(where + " is part of buffer " + std::to_string(part.part_of()) +
                ", expected one before it");
  const Buffer &whole = buffer(static_cast<uint64_t>(part.part_of()));
  if (part.offset() < whole.offset() ||
      part.offset() + part.bytes() > whole.offset() + whole.bytes())
    return fail(where + " leaves " + quote(whole.name()) + ", which it is part of");
  return true;
}

bool PlanChecker::checkVariables() {
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < count(plan.variables()); ++i) {
    const Variable &v = *plan.variables()->Get(i);
    std::string where = "variable " + quote(v.name());
    if (v.name()->size() == 0 || !names.insert(v.name()->string_view()).second)
      return fail(where + " is unnamed or there twice");
    if (!checkVariable(v))
      return false;
  }
  return true;
}

bool PlanChecker::checkVariable(const Variable &v) {
  std::string where = "variable " + quote(v.name());
  if (v.role() > VariableRole_MAX || (v.init() && v.init()->kind() > InitKind_MAX))
    return fail(where + " has an unknown role or initializer");
  if (v.buffer() >= buffers)
    return fail(where + " names buffer " + std::to_string(v.buffer()) + " of " +
                std::to_string(buffers));
  if (v.frozen() && v.role() != VariableRole_Parameter)
    return fail(where + " is frozen, but no parameter");
  const Buffer &b = buffer(v.buffer());
  uint64_t inside = elements(b.shape());
  if (count(v.file_shape()) && elements(v.file_shape()) != inside)
    return fail(where + " has another number of elements in files than inside");
  if (v.role() == VariableRole_Generator && (b.dtype() != DType_I64 || inside < 2))
    return fail(where + " is a generator, but not two 64-bit integers");
  size_t axes = count(v.file_permutation());
  if (std::max(axes, count(v.file_shape())) > kMaxRank)
    return fail(where + " has more than " + std::to_string(kMaxRank) + " dimensions in files");
  if (axes != count(v.file_split()) ||
      (axes && (elements(v.file_split()) != inside || !isPermutation(*v.file_permutation()))))
    return fail(where + " has a file layout that does not match its shape");
  if (v.gradient_buffer() < -1 || v.gradient_buffer() >= static_cast<int64_t>(buffers))
    return fail(where + " names gradient buffer " + std::to_string(v.gradient_buffer()) + " of " +
                std::to_string(buffers));
  if (v.gradient_buffer() >= 0 && (elements(buffer(v.gradient_buffer()).shape()) != inside ||
                                   buffer(v.gradient_buffer()).dtype() != b.dtype()))
    return fail(where + " has a gradient of another shape or dtype");
  if (v.average() == -1)
    return true;
  if (v.average() < 0 || static_cast<size_t>(v.average()) >= count(plan.variables()))
    return fail(where + " names variable " + std::to_string(v.average()) + " of " +
                std::to_string(count(plan.variables())) + " as its average");
  const Variable &average = *plan.variables()->Get(static_cast<uint32_t>(v.average()));
  if (average.buffer() >= buffers || buffer(average.buffer()).dtype() != b.dtype() ||
      elements(buffer(average.buffer()).shape()) != inside ||
      average.role() != VariableRole_OptimizerState)
    return fail(where + " has an average of another shape, dtype or role");
  return true;
}

bool PlanChecker::checkInputs() {
  for (size_t i = 0; i < count(plan.inputs()); ++i) {
    const Input &input = *plan.inputs()->Get(i);
    std::string where = "input " + quote(input.name());
    if (input.role() > InputRole_MAX)
      return fail(where + " has an unknown role");
    if (count(input.slots()) == 0)
      return fail(where + " has no slots");
    for (uint32_t slot : *input.slots()) {
      if (slot >= buffers)
        return fail(where + " names buffer " + std::to_string(slot) + " of " +
                    std::to_string(buffers));
      const Buffer &first = buffer(input.slots()->Get(0));
      const Buffer &b = buffer(slot);
      if (b.kind() != BufferKind_Input || b.bytes() != first.bytes() ||
          b.dtype() != first.dtype() || elements(b.shape()) != elements(first.shape()))
        return fail(where + " has slots of different kinds, sizes or dtypes");
    }
  }
  return true;
}

bool PlanChecker::checkMetrics() {
  std::set<std::pair<std::string_view, bool>> names;
  for (size_t i = 0; i < count(plan.metrics()); ++i) {
    const Metric &metric = *plan.metrics()->Get(i);
    std::string where = "metric " + quote(metric.name());
    if (!names.emplace(metric.name()->string_view(), metric.evaluate()).second)
      return fail(where + " is there twice");
    if (metric.reduction() > Reduction_MAX)
      return fail(where + " is reduced in an unknown way");
    if (metric.buffer() >= buffers)
      return fail(where + " names buffer " + std::to_string(metric.buffer()) + " of " +
                  std::to_string(buffers));
    if (buffer(metric.buffer()).dtype() != DType_F32 || buffer(metric.buffer()).bytes() < 4)
      return fail(where + " is not one f32");
  }
  return true;
}

/// A micro-batch has as many rows as samples.
bool PlanChecker::checkOutputs() {
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < count(plan.outputs()); ++i) {
    const Output &output = *plan.outputs()->Get(i);
    std::string where = "output " + quote(output.name());
    if (!names.insert(output.name()->string_view()).second)
      return fail(where + " is there twice");
    if (output.buffer() >= buffers)
      return fail(where + " names buffer " + std::to_string(output.buffer()) + " of " +
                  std::to_string(buffers));
    const Buffer &b = buffer(output.buffer());
    if (!b.evaluate() || count(b.shape()) != 2 ||
        b.shape()->Get(0) != plan.batch() / plan.micro_batches())
      return fail(where + " is not a row for each sample of a micro-batch that is evaluated");
  }
  return true;
}

bool PlanChecker::checkContracts() {
  if (int32_t scale = plan.window_scale(); scale != -1) {
    if (scale < 0 || static_cast<size_t>(scale) >= count(plan.variables()))
      return fail("the window's scale is variable " + std::to_string(scale) + " of " +
                  std::to_string(count(plan.variables())));
    const Buffer &b = buffer(plan.variables()->Get(static_cast<uint32_t>(scale))->buffer());
    if (b.dtype() != DType_F32 || b.bytes() < 4)
      return fail("the window's scale is not one f32");
  }
  if (int32_t rates = plan.learning_rate(); rates != -1) {
    if (rates < 0 || static_cast<size_t>(rates) >= count(plan.variables()))
      return fail("the learning rates are variable " + std::to_string(rates) + " of " +
                  std::to_string(count(plan.variables())));
    const Buffer &b = buffer(plan.variables()->Get(static_cast<uint32_t>(rates))->buffer());
    if (b.dtype() != DType_F32 || count(b.shape()) != 1 || b.shape()->Get(0) < 1)
      return fail("the learning rates are no ring of f32");
  }
  if (int32_t pool = plan.transients(); pool != -1) {
    if (pool < 0 || static_cast<size_t>(pool) >= buffers)
      return fail("the transient pool is buffer " + std::to_string(pool) + " of " +
                  std::to_string(buffers));
    // The library keeps tables of its own there.
    const Buffer &reserved = buffer(static_cast<uint64_t>(pool));
    for (size_t i = 0; i < buffers; ++i)
      if (const Buffer &other = buffer(i); i != static_cast<size_t>(pool) &&
                                           other.offset() < reserved.offset() + reserved.bytes() &&
                                           reserved.offset() < other.offset() + other.bytes())
        return fail("buffer " + quote(other.name()) + " overlaps the transient pool " +
                    quote(reserved.name()));
  }
  return true;
}

bool PlanChecker::checkUpdate(const Update &update) {
  if (update.parameter() >= count(plan.variables()))
    return fail("updates variable " + std::to_string(update.parameter()) + " of " +
                std::to_string(count(plan.variables())));
  const Variable &v = *plan.variables()->Get(update.parameter());
  if (v.role() != VariableRole_Parameter)
    return fail("updates " + quote(v.name()) + ", which is no parameter");
  if (!inRange(update.gradient(), "gradient"))
    return false;
  if (buffer(update.gradient()).bytes() < buffer(v.buffer()).bytes())
    return fail("updates " + quote(v.name()) + " by a gradient of fewer bytes");
  return true;
}

Status verifyPlan(const Plan &plan) { return PlanChecker(plan).run(); }

} // namespace gc::runtime
