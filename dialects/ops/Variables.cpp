//===- Variables.cpp - parameters, state and their uses -------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

static LogicalResult verifyName(Operation *op, StringRef name) {
  std::string fault = faultOfName(name);
  return fault.empty() ? success() : LogicalResult(op->emitOpError(fault));
}

// Whether each axis of `shape` is the product of a run of axes of `split`.
static bool splits(ArrayRef<int64_t> shape, ArrayRef<int64_t> split) {
  for (int64_t axis : shape) {
    int64_t product = 1;
    for (; product < axis && !split.empty(); split = split.drop_front())
      product *= split.front();
    if (product != axis)
      return false;
  }
  return llvm::all_of(split, [](int64_t rest) { return rest == 1; });
}

LogicalResult ParameterOp::verify() {
  if (failed(verifyName(*this, getSymName())))
    return failure();
  if (getInit().getKind() == InitKind::Values)
    return emitOpError(
        "of given values is for constants: declare a gc.state in the role 'constant', "
        "or put the values into a weight file");
  auto type = cast<RankedTensorType>(getType());
  auto split = getFileSplit(), permutation = getFilePermutation(), shape = getFileShape();
  if (split.has_value() != permutation.has_value() || split.has_value() != shape.has_value())
    return emitOpError("file_shape, file_split and file_permutation come together");
  if (!split)
    return success();
  auto hasAll = [&](ArrayRef<int64_t> dims) {
    return boundedProduct(dims, kLargestBytes) == type.getNumElements();
  };
  if (!hasAll(*split) || !hasAll(*shape))
    return emitOpError() << "file_shape and file_split must have the " << type.getNumElements()
                         << " elements of " << type;
  if (permutation->size() != split->size())
    return emitOpError("file_permutation must name each axis of file_split once");
  if (failed(verifyDimensions(*this, *permutation, split->size())))
    return failure();
  if (!splits(*shape, *split))
    return emitOpError("file_split must split the axes of file_shape");
  SmallVector<int64_t> permuted;
  for (int64_t axis : *permutation)
    permuted.push_back((*split)[axis]);
  if (!splits(type.getShape(), permuted))
    return emitOpError() << "file_split in the order of file_permutation must have the axes of "
                         << type;
  return success();
}

// Values of a constant: one for each element, and few enough for the text and the plan to carry.
static LogicalResult verifyValues(StateOp op, RankedTensorType type) {
  constexpr int64_t most = int64_t(1) << 20;
  ArrayRef<double> values = op.getInit().getValues();
  if (static_cast<int64_t>(values.size()) != type.getNumElements())
    return op.emitOpError() << "has " << values.size() << " values for the "
                            << type.getNumElements() << " elements of " << type;
  if (type.getNumElements() > most)
    return op.emitOpError() << "has more than " << most
                            << " values; give them as an input of the model";
  unsigned bits = type.getElementType().isInteger() ? type.getElementTypeBitWidth() : 0;
  double bound = bits ? std::ldexp(1.0, static_cast<int>(bits) - 1) : 0;
  for (double value : values)
    if (bits && (std::trunc(value) != value || value < -bound || value >= bound))
      return op.emitOpError() << "of " << type.getElementType() << " cannot hold the value "
                              << value;
  return success();
}

LogicalResult StateOp::verify() {
  if (failed(verifyName(*this, getSymName())))
    return failure();
  auto type = cast<RankedTensorType>(getType());
  bool counts = type.getElementType().isInteger();
  if (getInit().getKind() == InitKind::Values) {
    if (getRole() != StateRole::Constant)
      return emitOpError("of given values must be in the role 'constant'");
    return verifyValues(*this, type);
  }
  if (counts && getInit().getKind() != InitKind::Constant)
    return emitOpError("of integers must begin with a constant");
  if (getRole() == StateRole::Generator &&
      type != RankedTensorType::get({2}, IntegerType::get(getContext(), 64)))
    return emitOpError() << "holds (seed, step) of the generator: expected tensor<2xi64>, got "
                         << type;
  if (counts && (getRole() == StateRole::RunningStatistic || getRole() == StateRole::Optimizer))
    return emitOpError() << "of a model or optimizer must have f32 elements, got " << type;
  if (getRole() == StateRole::Schedule &&
      (counts || type.getRank() != 1 || type.getNumElements() < 2))
    return emitOpError() << "holds learning rates: expected tensor<Nxf32> with N from 2 on, got "
                         << type;
  return success();
}

// The variable `symbol` names must exist and have type `type`.
static LogicalResult verifyVariable(Operation *op, SymbolTableCollection &symbols,
                                    FlatSymbolRefAttr symbol, Type type) {
  Operation *variable = symbols.lookupNearestSymbolFrom(op, symbol);
  if (!variable)
    return op->emitOpError() << "refers to '" << symbol.getValue()
                             << "', which is not declared; add a gc.parameter or gc.state";
  Type declared;
  if (auto parameter = dyn_cast<ParameterOp>(variable))
    declared = parameter.getType();
  else if (auto state = dyn_cast<StateOp>(variable))
    declared = state.getType();
  else
    return op->emitOpError() << "'" << symbol.getValue() << "' is not a parameter or state";
  if (declared != type) {
    auto error = op->emitOpError() << "uses '" << symbol.getValue() << "' as " << type
                                   << ", but it is declared as " << declared;
    error.attachNote(variable->getLoc()) << "declared here";
    return error;
  }
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getVariableAttr(), getType());
}
LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getParameterAttr(), getGradient().getType());
}
LogicalResult AccumulateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getAccumulatorAttr(), getGradient().getType());
}
LogicalResult AccumulateProductOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto [variable, type] : llvm::zip(getVariables(), getProduct()->getResultTypes()))
    if (failed(verifyVariable(*this, symbols, variable, type)))
      return failure();
  return success();
}
LogicalResult ClearOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getVariableAttr(), getType());
}
LogicalResult RunningStatsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyVariable(*this, symbols, getRunningMeanAttr(), getMean().getType())))
    return failure();
  return verifyVariable(*this, symbols, getRunningVarianceAttr(), getRstd().getType());
}
LogicalResult AdvanceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(
      *this, symbols, getGeneratorAttr(),
      RankedTensorType::get({getModulo() ? 1 : 2}, IntegerType::get(getContext(), 64)));
}

template <typename Update>
static LogicalResult verifyUpdate(Update op, SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr variable : op.getVariables())
    if (failed(verifyVariable(op, symbols, variable, op.getVariableType())))
      return failure();
  return success();
}
LogicalResult SgdOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult AdamOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult AdamWOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult RmspropOp::verifySymbolUses(SymbolTableCollection &s) {
  return verifyUpdate(*this, s);
}
LogicalResult LionOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult LambOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult AdafactorOp::verifySymbolUses(SymbolTableCollection &s) {
  return verifyUpdate(*this, s);
}
LogicalResult AdafactorAverageOp::verifySymbolUses(SymbolTableCollection &s) {
  return verifyUpdate(*this, s);
}

} // namespace gc
