// Commands that every device executes: convolutions, products, fills and copies.
#include "runtime/plan/PlanChecker.h"

using namespace gc::plan;

namespace gc::runtime {

constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max(); // of one dimension
constexpr int64_t kMaxWindow = 65535;                             // of kernels and strides

/// The last window starts inside the padded input and ends less than one kernel after its end.
// `kernel` is what a window spans: with dilation more than its taps.
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
    last =
        add(last, multiply(static_cast<uint64_t>(size - 1), static_cast<uint64_t>(strides.Get(i))));
  }
  return add(last, 1);
}

static bool overlap(const Buffer &a, const Buffer &b) {
  return a.offset() < b.offset() + b.bytes() && b.offset() < a.offset() + a.bytes();
}

bool PlanChecker::inRange(int64_t index, const char *role) {
  if (index >= 0 && static_cast<uint64_t>(index) < buffers)
    return true;
  return fail(std::string(role) + " names buffer " + std::to_string(index) + " of " +
              std::to_string(buffers));
}

/// A name that errors can have for a type, known or not.
static std::string nameOf(DType type) {
  const ElementType *known = elementTypeOf(type);
  return known ? std::string(known->mlir) : "unknown type " + std::to_string(int(type));
}

/// `index` is a buffer of `type` with room for `needed` elements.
bool PlanChecker::holds(int64_t index, uint64_t needed, const char *role, DType type) {
  if (!inRange(index, role))
    return false;
  const Buffer &b = buffer(index);
  if (b.dtype() != type)
    return fail(std::string(role) + " " + quote(b.name()) + " is not " + nameOf(type));
  if (multiply(needed, elementBytes(type)) > b.bytes())
    return fail(std::string(role) + " " + quote(b.name()) + " has " + std::to_string(b.bytes()) +
                " bytes, the command uses " + std::to_string(needed) + " elements");
  return true;
}

/// Libraries keep more than numbers in a workspace (how far their threads are), so nothing that the
/// command reads or writes may lie in it.
bool PlanChecker::checkWorkspace(int32_t index, std::initializer_list<int64_t> operands) {
  if (index == -1)
    return true;
  if (!inRange(index, "workspace"))
    return false;
  const Buffer &workspace = buffer(index);
  if (workspace.kind() != BufferKind_Workspace)
    return fail("workspace " + quote(workspace.name()) + " is of another kind");
  for (int64_t operand : operands)
    if (operand != -1 && overlap(workspace, buffer(operand)))
      return fail("workspace " + quote(workspace.name()) + " overlaps operand " +
                  quote(buffer(operand).name()));
  return true;
}

bool PlanChecker::checkList(const CommandList *list, const char *listName) {
  for (size_t i = 0; list && i < count(list->commands()); ++i) {
    const Command &command = *list->commands()->Get(i);
    if (!checkCommand(command)) {
      message = "command " + std::to_string(i) + " of " + listName + " (" + quote(command.name()) +
                "): " + message;
      return false;
    }
  }
  return true;
}

bool PlanChecker::checkCommand(const Command &command) {
  if (command.update() && !checkUpdate(*command.update()))
    return false;
  for (size_t i = 0; i < count(command.parts()); ++i) {
    const CommandPart &part = *command.parts()->Get(static_cast<uint32_t>(i));
    if (part.update() && !checkUpdate(*part.update()))
      return false;
  }
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

bool PlanChecker::checkTypes(DType type, DType accumulator, DType result, bool accumulates) {
  if ((type != DType_F32 && type != DType_BF16) || accumulator != DType_F32 ||
      (result != DType_F32 && result != type))
    return fail("computes " + nameOf(type) + " with sums in " + nameOf(accumulator) +
                " and results in " + nameOf(result) +
                "; products are of f32 or bf16, with sums in f32");
  if (accumulates && result != DType_F32)
    return fail("adds to what is there in " + nameOf(result) + "; only f32 accumulates");
  return true;
}

bool PlanChecker::checkOptional(bool expected, int32_t index, const char *role) {
  if (expected == (index != -1))
    return true;
  return fail(std::string("its spec ") + (expected ? "has a " : "has no ") + role +
              ", its buffers say otherwise");
}

bool PlanChecker::checkConvolution(const Convolution &c) {
  const ConvolutionSpec &s = *c.spec();
  if (s.direction() > Direction_MAX || s.activation() > Activation_MAX)
    return fail("unknown direction or activation");
  if (!checkTypes(s.type(), s.accumulator(), s.result(), s.accumulate()))
    return false;
  for (int64_t n :
       {s.batch(), s.in_h(), s.in_w(), s.in_c(), s.out_h(), s.out_w(), s.out_c(), s.kernel_h(),
        s.kernel_w(), s.stride_h(), s.stride_w(), s.dilation_h(), s.dilation_w(), s.groups()})
    if (n < 1 || n > kMaxSize)
      return fail("a size of " + std::to_string(n) + " is not possible");
  for (int64_t n :
       {s.kernel_h(), s.kernel_w(), s.stride_h(), s.stride_w(), s.dilation_h(), s.dilation_w()})
    if (n > kMaxWindow)
      return fail("a kernel, stride or dilation of " + std::to_string(n) + " is not possible");
  if (s.in_c() % s.groups() != 0 || s.out_c() % s.groups() != 0)
    return fail(std::to_string(s.groups()) + " groups do not divide " + std::to_string(s.in_c()) +
                " input and " + std::to_string(s.out_c()) + " output channels");
  int64_t height = (s.kernel_h() - 1) * s.dilation_h() + 1;
  int64_t width = (s.kernel_w() - 1) * s.dilation_w() + 1;
  if (!geometry(s.in_h(), s.out_h(), height, s.stride_h(), s.pad_h()) ||
      !geometry(s.in_w(), s.out_w(), width, s.stride_w(), s.pad_w()))
    return fail("output size does not follow from input, kernel, stride, dilation and padding");
  if (s.direction() != Direction_Forward && (s.activation() != Activation_None || s.residual()))
    return fail("activation and residual belong to the forward direction");
  if (s.direction() == Direction_BackwardData && s.bias())
    return fail("the data gradient has no bias");
  auto product = [](std::initializer_list<int64_t> sizes) {
    uint64_t n = 1;
    for (int64_t size : sizes)
      n = multiply(n, static_cast<uint64_t>(size));
    return n;
  };
  uint64_t out = product({s.batch(), s.out_h(), s.out_w(), s.out_c()});
  // Of the operand that is the result of `direction`.
  auto typeOf = [&](Direction direction) {
    return s.direction() == direction ? s.result() : s.type();
  };
  return checkOptional(s.bias(), c.bias(), "bias") &&
         checkOptional(s.residual(), c.residual(), "residual") &&
         holds(c.src(), product({s.batch(), s.in_h(), s.in_w(), s.in_c()}), "src",
               typeOf(Direction_BackwardData)) &&
         holds(c.weights(), product({s.out_c(), s.kernel_h(), s.kernel_w(), s.in_c() / s.groups()}),
               "weights", typeOf(Direction_BackwardWeights)) &&
         holds(c.dst(), out, "dst", typeOf(Direction_Forward)) &&
         optionalHolds(c.bias(), static_cast<uint64_t>(s.out_c()), "bias", DType_F32) &&
         optionalHolds(c.residual(), out, "residual", s.result()) &&
         checkWorkspace(c.workspace(), {c.src(), c.weights(), c.dst(), c.bias(), c.residual()});
}

bool PlanChecker::checkMatMul(const MatMul &mm) {
  const MatMulSpec &s = *mm.spec();
  if (s.activation() > Activation_MAX)
    return fail("unknown activation");
  if (!checkTypes(s.type(), s.accumulator(), s.result(), s.accumulate()))
    return false;
  size_t dims = count(s.batch()) + 2;
  if (dims > 6)
    return fail("more than 4 batch dimensions");
  if (count(s.a_strides()) != dims || count(s.b_strides()) != dims || count(s.c_strides()) != dims)
    return fail("a, b and c need " + std::to_string(dims) + " strides each");
  for (int64_t n : {s.m(), s.n(), s.k()})
    if (n < 1 || n > kMaxSize)
      return fail("a size of " + std::to_string(n) + " is not possible");
  for (size_t i = 0; i < dims; ++i) {
    int64_t size = i + 2 < dims ? s.batch()->Get(i) : i + 2 == dims ? s.m() : s.n();
    if (s.c_strides()->Get(i) == 0 && size > 1)
      return fail("c has a stride of 0: its elements would be written twice");
  }
  // Without this, nothing in the plan would bound the work.
  if (s.k() > 1 && (s.a_strides()->Get(dims - 1) == 0 || s.b_strides()->Get(dims - 2) == 0))
    return fail("a or b has a stride of 0 along the sum");
  uint64_t cEnd = extent(s.batch(), *s.c_strides(), s.m(), s.n(), mm.c()->offset());
  uint64_t residualEnd = extent(s.batch(), *s.c_strides(), s.m(), s.n(), 0);
  return checkOptional(s.bias(), mm.bias(), "bias") &&
         checkOptional(s.residual(), mm.residual(), "residual") &&
         holds(mm.a()->buffer(), extent(s.batch(), *s.a_strides(), s.m(), s.k(), mm.a()->offset()),
               "a", s.type()) &&
         holds(mm.b()->buffer(), extent(s.batch(), *s.b_strides(), s.k(), s.n(), mm.b()->offset()),
               "b", s.type()) &&
         holds(mm.c()->buffer(), cEnd, "c", s.result()) &&
         optionalHolds(mm.bias(), static_cast<uint64_t>(s.n()), "bias", DType_F32) &&
         optionalHolds(mm.residual(), residualEnd, "residual", s.result()) &&
         checkWorkspace(mm.workspace(), {mm.a()->buffer(), mm.b()->buffer(), mm.c()->buffer(),
                                         mm.bias(), mm.residual()});
}

bool PlanChecker::checkCopy(const Copy &copy) {
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

} // namespace gc::runtime
