//===- GcDialect.cpp - registration, attributes, interface defaults -------===//
#include "dialects/Gc.h"
#include "dialects/StrictProperties.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

#include "dialects/GcDialect.cpp.inc"
#include "dialects/GcEnums.cpp.inc"
#include "dialects/GcInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/GcAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/GcOps.cpp.inc"

namespace gc {

template <typename... Ops> static void addStrictly(Dialect &dialect) {
  (RegisteredOperationName::insert<Strict<Ops>>(dialect), ...);
}

void GcDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/GcAttributes.cpp.inc"
      >();
  addStrictly<
#define GET_OP_LIST
#include "dialects/GcOps.cpp.inc"
      >(*this);
}

static ParseResult refuseUnknownOp(OpAsmParser &parser, OperationState &state) {
  StringRef name = state.name.getStringRef(), nearest;
  // A third of the letters may differ, or two that have changed places.
  unsigned least = std::max<unsigned>(2, (name.size() - StringRef("gc.").size()) / 3) + 1;
  for (RegisteredOperationName op : parser.getContext()->getRegisteredOperationsByDialect("gc"))
    if (unsigned distance = name.edit_distance(op.getStringRef()); distance < least) {
      least = distance;
      nearest = op.getStringRef();
    }
  // Behind "custom op 'NAME' ", which the parser writes.
  InFlightDiagnostic error = parser.emitError(parser.getNameLoc()) << "is unknown";
  if (!nearest.empty())
    error << "; did you mean '" << nearest << "'?";
  return error;
}

std::optional<Dialect::ParseOpHook> GcDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(refuseUnknownOp);
}

void registerGcDialects(DialectRegistry &registry) {
  registry.insert<GcDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
}

LogicalResult InitAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, InitKind kind,
                               DenseF64ArrayAttr values) {
  static constexpr size_t expected[] = {1, 2, 2, 4};
  // The number of `values` is the variable's to check.
  size_t given = static_cast<size_t>(values.size());
  size_t want = kind == InitKind::Values ? given : expected[static_cast<size_t>(kind)];
  if (given != want)
    return emitError() << "initializer '" << stringifyInitKind(kind) << "' takes " << want
                       << " values, got " << values.size();
  ArrayRef<double> v = values;
  if (!llvm::all_of(v, [](double value) { return std::isfinite(value); }))
    return emitError() << "the values of an initializer must be finite";
  if (kind == InitKind::Uniform && v[0] > v[1])
    return emitError() << "initializer 'uniform' takes low and high, got " << v[0] << " above "
                       << v[1];
  bool normal = kind == InitKind::Normal || kind == InitKind::TruncatedNormal;
  if (normal && v[1] < 0)
    return emitError() << "the deviation of an initializer must not be negative, got " << v[1];
  if (kind == InitKind::TruncatedNormal && v[2] >= v[3])
    return emitError() << "initializer 'truncated_normal' takes low below high, got " << v[2]
                       << " and " << v[3];
  return success();
}

int64_t elementCount(Type type) { return cast<ShapedType>(type).getNumElements(); }

int64_t byteSize(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() * (shaped.getElementTypeBitWidth() / 8);
}

namespace detail {

double largestElementCount(Operation *op) {
  int64_t largest = 0;
  for (Type type : op->getOperandTypes())
    largest = std::max(largest, elementCount(type));
  for (Type type : op->getResultTypes())
    largest = std::max(largest, elementCount(type));
  return static_cast<double>(largest);
}

// Whether the op computes dimension `dimension` of operand `operand` apart.
static bool isApart(Apart apart, unsigned operand, int64_t dimension, int64_t rank) {
  switch (apart) {
  case Apart::Everywhere:
    return true;
  case Apart::AllButLast:
    return dimension != rank - 1;
  case Apart::First:
    return dimension == 0;
  case Apart::FirstOfFirstOperand:
    return operand == 0 && dimension == 0;
  case Apart::Last:
    return dimension == rank - 1;
  case Apart::Nowhere:
    return false;
  }
  llvm_unreachable("unknown dimensions");
}

Mixing mixingOf(Operation *op, Apart apart, BatchDimensions isBatch) {
  for (auto [operand, type] : llvm::enumerate(op->getOperandTypes())) {
    int64_t rank = cast<ShapedType>(type).getRank();
    for (int64_t d = 0; d < rank; ++d)
      if (!isApart(apart, operand, d, rank) && isBatch(operand, d))
        return Mixing::Mixed;
  }
  return Mixing::None;
}

double defaultBytesMoved(Operation *op) {
  double bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += byteSize(type);
  for (Type type : op->getResultTypes())
    bytes += byteSize(type);
  // Variables are read and written in place.
  if (auto update = dyn_cast<UpdateOpInterface>(op))
    bytes += 2.0 * update.getVariables().size() * byteSize(update.getVariableType());
  return bytes;
}

bool fusibleMayWriteOver(Operation *op, unsigned operand, unsigned result) {
  if (op->getOperand(operand).getType() != op->getResult(result).getType())
    return false;
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  // Dropout, softmax, cross entropy's gradient: element by element or row by row, as promised.
  if (!fusible)
    return true;
  return fusible.getFusionKind() == FusionKind::Elementwise &&
         fusible.getOperandAccess(operand) == fusible.getResultAccess(result);
}

} // namespace detail
} // namespace gc
