// The rules that a plan must keep so that no command can leave the arena. Every product and sum of
// numbers from the file goes through `multiply`/`add`, which saturate: a size that overflows is
// then simply larger than any buffer.
#include "runtime/plan/PlanFile.h"

#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_set>

namespace gc::runtime {
namespace {

using namespace gc::plan;
constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? kHuge : r;
}
uint64_t add(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_add_overflow(a, b, &r) ? kHuge : r;
}
template <typename Vector> size_t count(const Vector *v) { return v ? v->size() : 0; }

/// Elements of a shape; kHuge when a dimension is negative or the product overflows.
uint64_t elements(const flatbuffers::Vector<int64_t> *shape) {
  uint64_t n = 1;
  for (size_t i = 0; i < count(shape); ++i)
    n = shape->Get(i) < 0 ? kHuge : multiply(n, static_cast<uint64_t>(shape->Get(i)));
  return n;
}

std::string quote(const flatbuffers::String *name) {
  return std::string("'").append(name->string_view()).append("'");
}

class Checker {
public:
  explicit Checker(const Plan &plan) : plan(plan), buffers(count(plan.buffers())) {}

  Status run() {
    if (!checkHeader() || !checkBuffers() || !checkKernels() || !checkGraphs() ||
        !checkVariables() || !checkInputs() || !checkMetrics() || !checkList(plan.once(), "once") ||
        !checkList(plan.micro_batch(), "micro_batch") || !checkList(plan.step(), "step") ||
        !checkList(plan.evaluate(), "evaluate"))
      return badInput(message);
    return {};
  }

private:
  const Plan &plan;
  const size_t buffers;
  std::string message;

  bool fail(std::string text) {
    message = std::move(text);
    return false;
  }
  const Buffer &buffer(uint64_t index) {
    return *plan.buffers()->Get(static_cast<uint32_t>(index));
  }

  bool checkHeader() {
    if (plan.batch() < 1 || plan.micro_batches() < 1 || plan.micro_batches() > plan.batch())
      return fail("batch " + std::to_string(plan.batch()) + " cannot be done in " +
                  std::to_string(plan.micro_batches()) + " micro-batches");
    if (plan.parameters() < 0 || plan.classes() < 0)
      return fail("parameters and classes must not be negative");
    if (plan.arena_bytes() > (uint64_t(1) << 47))
      return fail("an arena of " + std::to_string(plan.arena_bytes()) +
                  " bytes is larger than the address space");
    return true;
  }

  bool checkBuffers() {
    for (size_t i = 0; i < buffers; ++i) {
      const Buffer &b = buffer(i);
      std::string where = "buffer " + quote(b.name());
      if (b.kind() > BufferKind_MAX || b.dtype() > DType_MAX)
        return fail(where + " has an unknown kind or dtype");
      if (b.offset() % kBufferAlignment != 0)
        return fail(where + " starts at " + std::to_string(b.offset()) + ", not a multiple of 64");
      if (add(b.offset(), b.bytes()) > plan.arena_bytes())
        return fail(where + " ends at byte " + std::to_string(add(b.offset(), b.bytes())) +
                    " of an arena of " + std::to_string(plan.arena_bytes()));
      if (multiply(elements(b.shape()), elementBytes(b.dtype())) > b.bytes())
        return fail(where + " has a shape that does not fit in its " + std::to_string(b.bytes()) +
                    " bytes");
      if (b.first_command() > b.last_command())
        return fail(where + " dies before it is born");
    }
    return true;
  }

  bool checkKernels() {
    size_t symbols = plan.kernels() ? count(plan.kernels()->symbols()) : 0;
    for (size_t i = 0; i < symbols; ++i)
      if (plan.kernels()->symbols()->Get(i)->size() == 0)
        return fail("kernel " + std::to_string(i) + " has no name");
    size_t images = plan.kernels() ? count(plan.kernels()->images()) : 0;
    if (symbols > 0 && count(plan.kernels()->object()) == 0 && images == 0)
      return fail("kernels are named but there is no object code");
    for (size_t i = 0; i < images; ++i) {
      const KernelImage &image = *plan.kernels()->images()->Get(i);
      std::string where = "kernel image " + std::to_string(i);
      uint32_t first = image.first_symbol();
      bool follows = i == 0 ? first == 0
                            : first > plan.kernels()->images()->Get(i - 1)->first_symbol();
      if (!follows || first >= symbols)
        return fail(where + " starts at kernel " + std::to_string(first) + " of " +
                    std::to_string(symbols) + ", out of order");
      if (image.ptx()->size() == 0)
        return fail(where + " has no text");
      if (image.cubin() && !isWholeCubin(*image.cubin()))
        return fail(where + " has a cubin that is truncated or none");
    }
    return true;
  }

  /// Drivers find the end of a cubin by its section table: that must be inside.
  static bool isWholeCubin(const flatbuffers::Vector<uint8_t> &bytes) {
    constexpr size_t kHeader = 64;
    if (bytes.size() < kHeader || std::memcmp(bytes.data(), "\x7f" "ELF\x02\x01", 6) != 0)
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

  bool checkGraphs() {
    for (size_t i = 0; i < count(plan.graphs()); ++i)
      if (plan.graphs()->Get(i)->plan()->size() == 0)
        return fail("library graph " + quote(plan.graphs()->Get(i)->name()) + " is empty");
    return true;
  }

  bool checkVariables() {
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < count(plan.variables()); ++i) {
      const Variable &v = *plan.variables()->Get(i);
      std::string where = "variable " + quote(v.name());
      if (v.name()->size() == 0 || !names.insert(v.name()->string_view()).second)
        return fail(where + " is unnamed or there twice");
      if (v.role() > VariableRole_MAX || (v.init() && v.init()->kind() > InitKind_MAX))
        return fail(where + " has an unknown role or initializer");
      if (v.buffer() >= buffers)
        return fail(where + " names buffer " + std::to_string(v.buffer()) + " of " +
                    std::to_string(buffers));
      const Buffer &b = buffer(v.buffer());
      uint64_t inside = elements(b.shape());
      if (count(v.file_shape()) && elements(v.file_shape()) != inside)
        return fail(where + " has another number of elements in files than inside");
      size_t axes = count(v.file_permutation());
      if (axes != count(v.file_split()) ||
          (axes && (elements(v.file_split()) != inside || !isPermutation(*v.file_permutation()))))
        return fail(where + " has a file layout that does not match its shape");
      if (v.gradient_buffer() < -1 || v.gradient_buffer() >= static_cast<int64_t>(buffers))
        return fail(where + " names gradient buffer " + std::to_string(v.gradient_buffer()) +
                    " of " + std::to_string(buffers));
      if (v.gradient_buffer() >= 0 && (elements(buffer(v.gradient_buffer()).shape()) != inside ||
                                       buffer(v.gradient_buffer()).dtype() != b.dtype()))
        return fail(where + " has a gradient of another shape or dtype");
    }
    return true;
  }

  static bool isPermutation(const flatbuffers::Vector<int32_t> &axes) {
    std::unordered_set<int32_t> seen;
    for (int32_t axis : axes)
      if (axis < 0 || static_cast<size_t>(axis) >= axes.size() || !seen.insert(axis).second)
        return false;
    return true;
  }

  bool checkInputs() {
    for (size_t i = 0; i < count(plan.inputs()); ++i) {
      const Input &input = *plan.inputs()->Get(i);
      std::string where = "input " + quote(input.name());
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

  bool checkMetrics() {
    for (int32_t metric :
         {plan.loss(), plan.correct(), plan.evaluate_loss(), plan.evaluate_correct()}) {
      if (metric == -1)
        continue;
      if (metric < 0 || static_cast<size_t>(metric) >= buffers)
        return fail("a metric names buffer " + std::to_string(metric) + " of " +
                    std::to_string(buffers));
      if (buffer(metric).dtype() != DType_F32 || buffer(metric).bytes() < 4)
        return fail("metric " + quote(buffer(metric).name()) + " is not one f32");
    }
    return true;
  }

  bool checkList(const CommandList *list, const char *listName) {
    for (size_t i = 0; list && i < count(list->commands()); ++i) {
      const Command &command = *list->commands()->Get(i);
      if (!checkCommand(command)) {
        message = "command " + std::to_string(i) + " of " + listName + " (" +
                  quote(command.name()) + "): " + message;
        return false;
      }
    }
    return true;
  }

  bool checkCommand(const Command &command) {
    switch (command.operation_type()) {
    case Operation_Dispatch:
      return checkDispatch(*command.operation_as_Dispatch());
    case Operation_Convolution:
      return checkConvolution(*command.operation_as_Convolution());
    case Operation_MatMul:
      return checkMatMul(*command.operation_as_MatMul());
    case Operation_Fill:
      return inRange(command.operation_as_Fill()->buffer(), "fill");
    case Operation_Copy:
      return checkCopy(*command.operation_as_Copy());
    case Operation_Launch:
      return checkLaunch(*command.operation_as_Launch());
    case Operation_GraphCall:
      return checkGraphCall(*command.operation_as_GraphCall());
    default:
      return fail("unknown operation " + std::to_string(int(command.operation_type())));
    }
  }

  bool inRange(int64_t index, const char *role) {
    if (index >= 0 && static_cast<uint64_t>(index) < buffers)
      return true;
    return fail(std::string(role) + " names buffer " + std::to_string(index) + " of " +
                std::to_string(buffers));
  }

  /// `index` is a buffer of f32 with room for `needed` elements.
  bool holds(int64_t index, uint64_t needed, const char *role) {
    if (!inRange(index, role))
      return false;
    const Buffer &b = buffer(index);
    if (b.dtype() != DType_F32)
      return fail(std::string(role) + " " + quote(b.name()) + " is not f32");
    if (multiply(needed, 4) > b.bytes())
      return fail(std::string(role) + " " + quote(b.name()) + " has " + std::to_string(b.bytes()) +
                  " bytes, the command uses " + std::to_string(needed) + " elements");
    return true;
  }

  bool optionalHolds(int32_t index, uint64_t needed, const char *role) {
    return index == -1 || holds(index, needed, role);
  }

  bool checkWorkspace(int32_t index) {
    if (index == -1)
      return true;
    if (!inRange(index, "workspace"))
      return false;
    return buffer(index).kind() == BufferKind_Workspace ||
           fail("workspace " + quote(buffer(index).name()) + " is of another kind");
  }

  bool checkDispatch(const Dispatch &d) {
    size_t symbols = plan.kernels() ? count(plan.kernels()->symbols()) : 0;
    if (d.kernel() >= symbols)
      return fail("kernel " + std::to_string(d.kernel()) + " of " + std::to_string(symbols));
    if (count(plan.kernels()->object()) == 0)
      return fail("kernel " + std::to_string(d.kernel()) + " is not for a CPU");
    if (d.items() > (uint64_t(1) << 62))
      return fail("too many items");
    for (size_t i = 0; i < count(d.buffers()); ++i)
      if (!inRange(d.buffers()->Get(i), "kernel operand"))
        return false;
    return true;
  }

  /// One entry a buffer, each known.
  bool checkAccess(const flatbuffers::Vector<uint8_t> *access, size_t operands) {
    if (count(access) != operands)
      return fail(std::to_string(operands) + " buffers, but access to " +
                  std::to_string(count(access)));
    for (size_t i = 0; i < operands; ++i)
      if (access->Get(i) > Access_MAX)
        return fail("unknown access");
    return true;
  }

  /// The limits are CUDA's, the same for every device; shared memory's is the largest there is.
  bool checkLaunch(const Launch &l) {
    size_t symbols = plan.kernels() ? count(plan.kernels()->symbols()) : 0;
    if (l.kernel() >= symbols || count(plan.kernels()->images()) == 0)
      return fail("kernel " + std::to_string(l.kernel()) + " of " + std::to_string(symbols) +
                  (symbols ? ", which are not for a GPU" : ""));
    constexpr size_t kParameters = 4096 / 8; // all parameters take at most 4 KiB
    if (count(l.buffers()) > kParameters)
      return fail("more than " + std::to_string(kParameters) + " buffers");
    for (size_t i = 0; i < count(l.buffers()); ++i)
      if (!inRange(l.buffers()->Get(i), "kernel operand"))
        return false;
    const Extent &grid = *l.grid(), &block = *l.block();
    if (grid.x() < 1 || grid.y() < 1 || grid.z() < 1 || grid.x() > 0x7fffffff ||
        grid.y() > 65535 || grid.z() > 65535)
      return fail("a grid of " + text(grid) + " is not possible");
    if (block.x() < 1 || block.y() < 1 || block.z() < 1 || block.x() > 1024 || block.y() > 1024 ||
        block.z() > 64 || block.x() * block.y() * block.z() > 1024)
      return fail("a block of " + text(block) + " is not possible");
    if (l.shared_bytes() > 227 * 1024)
      return fail("no device has " + std::to_string(l.shared_bytes()) +
                  " bytes of shared memory for a block");
    return checkAccess(l.access(), count(l.buffers()));
  }

  static std::string text(const Extent &e) {
    return std::to_string(e.x()) + " x " + std::to_string(e.y()) + " x " + std::to_string(e.z());
  }

  bool checkGraphCall(const GraphCall &g) {
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
    if (!checkAccess(g.access(), count(g.buffers())) || !checkWorkspace(g.workspace()))
      return false;
    uint64_t has = g.workspace() == -1 ? 0 : buffer(g.workspace()).bytes();
    uint64_t needs = plan.graphs()->Get(g.graph())->workspace_bytes();
    return needs <= has || fail("graph " + quote(plan.graphs()->Get(g.graph())->name()) +
                                " needs " + std::to_string(needs) +
                                " bytes of workspace, the command has " + std::to_string(has));
  }

  bool checkConvolution(const Convolution &c) {
    if (c.direction() > Direction_MAX || c.activation() > Activation_MAX)
      return fail("unknown direction or activation");
    for (int64_t n : {c.batch(), c.in_h(), c.in_w(), c.in_c(), c.out_h(), c.out_w(), c.out_c(),
                      c.kernel_h(), c.kernel_w(), c.stride_h(), c.stride_w()})
      if (n < 1 || n > std::numeric_limits<int32_t>::max())
        return fail("a size of " + std::to_string(n) + " is not possible");
    if (!geometry(c.in_h(), c.out_h(), c.kernel_h(), c.stride_h(), c.pad_h()) ||
        !geometry(c.in_w(), c.out_w(), c.kernel_w(), c.stride_w(), c.pad_w()))
      return fail("output size does not follow from input, kernel, stride and padding");
    if (c.direction() != Direction_Forward &&
        (c.activation() != Activation_None || c.residual() != -1))
      return fail("activation and residual belong to the forward direction");
    if (c.direction() == Direction_BackwardData && c.bias() != -1)
      return fail("the data gradient has no bias");
    auto product = [](std::initializer_list<int64_t> sizes) {
      uint64_t n = 1;
      for (int64_t size : sizes)
        n = multiply(n, static_cast<uint64_t>(size));
      return n;
    };
    uint64_t out = product({c.batch(), c.out_h(), c.out_w(), c.out_c()});
    return holds(c.src(), product({c.batch(), c.in_h(), c.in_w(), c.in_c()}), "src") &&
           holds(c.weights(), product({c.out_c(), c.kernel_h(), c.kernel_w(), c.in_c()}),
                 "weights") &&
           holds(c.dst(), out, "dst") &&
           optionalHolds(c.bias(), static_cast<uint64_t>(c.out_c()), "bias") &&
           optionalHolds(c.residual(), out, "residual") && checkWorkspace(c.workspace());
  }

  /// The last window starts inside the padded input and ends less than one kernel after its end.
  static bool geometry(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad) {
    if (pad < 0 || pad >= kernel)
      return false;
    int64_t after = (out - 1) * stride + kernel - pad - in; // all below 2^31: no overflow
    return after > -stride && after < kernel;
  }

  /// Highest element index that the strides reach, plus one; kHuge for a negative stride or size.
  static uint64_t extent(const flatbuffers::Vector<int64_t> *batch,
                         const flatbuffers::Vector<int64_t> &strides, int64_t rows, int64_t columns,
                         uint64_t offset) {
    uint64_t last = offset;
    size_t dims = count(batch);
    for (size_t i = 0; i < dims + 2; ++i) {
      int64_t size = i < dims ? batch->Get(i) : i == dims ? rows : columns;
      if (size < 1 || strides.Get(i) < 0)
        return kHuge;
      last = add(last,
                 multiply(static_cast<uint64_t>(size - 1), static_cast<uint64_t>(strides.Get(i))));
    }
    return add(last, 1);
  }

  bool checkMatMul(const MatMul &mm) {
    if (mm.activation() > Activation_MAX)
      return fail("unknown activation");
    size_t dims = count(mm.batch()) + 2;
    if (dims > 6)
      return fail("more than 4 batch dimensions");
    if (count(mm.a_strides()) != dims || count(mm.b_strides()) != dims ||
        count(mm.c_strides()) != dims)
      return fail("a, b and c need " + std::to_string(dims) + " strides each");
    for (int64_t n : {mm.m(), mm.n(), mm.k()})
      if (n < 1 || n > std::numeric_limits<int32_t>::max())
        return fail("a size of " + std::to_string(n) + " is not possible");
    for (size_t i = 0; i < dims; ++i) {
      int64_t size = i + 2 < dims ? mm.batch()->Get(i) : i + 2 == dims ? mm.m() : mm.n();
      if (mm.c_strides()->Get(i) == 0 && size > 1)
        return fail("c has a stride of 0: its elements would be written twice");
    }
    uint64_t cEnd = extent(mm.batch(), *mm.c_strides(), mm.m(), mm.n(), mm.c()->offset());
    uint64_t residualEnd = extent(mm.batch(), *mm.c_strides(), mm.m(), mm.n(), 0);
    return holds(mm.a()->buffer(),
                 extent(mm.batch(), *mm.a_strides(), mm.m(), mm.k(), mm.a()->offset()), "a") &&
           holds(mm.b()->buffer(),
                 extent(mm.batch(), *mm.b_strides(), mm.k(), mm.n(), mm.b()->offset()), "b") &&
           holds(mm.c()->buffer(), cEnd, "c") &&
           optionalHolds(mm.bias(), static_cast<uint64_t>(mm.n()), "bias") &&
           optionalHolds(mm.residual(), residualEnd, "residual") && checkWorkspace(mm.workspace());
  }

  bool checkCopy(const Copy &copy) {
    for (const View *view : {copy.source(), copy.target()}) {
      if (!inRange(view->buffer(), "copy"))
        return false;
      const Buffer &b = buffer(view->buffer());
      if (add(multiply(view->offset(), elementBytes(b.dtype())), copy.bytes()) > b.bytes())
        return fail("copies " + std::to_string(copy.bytes()) + " bytes beyond the end of " +
                    quote(b.name()));
    }
    return true;
  }
};

} // namespace

uint64_t elementBytes(DType type) {
  switch (type) {
  case DType_F32:
  case DType_I32:
    return 4;
  case DType_I64:
    return 8;
  case DType_U8:
    return 1;
  }
  return 1;
}

Status verifyPlan(const Plan &plan) { return Checker(plan).run(); }

} // namespace gc::runtime
