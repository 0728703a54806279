//===- Variables.cpp - parameters, state and their uses -------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

LogicalResult ParameterOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  auto split = getFileSplit(), permutation = getFilePermutation(), shape = getFileShape();
  if (split.has_value() != permutation.has_value() || split.has_value() != shape.has_value())
    return emitOpError("file_shape, file_split and file_permutation come together");
  if (!split)
    return success();
  auto product = [](ArrayRef<int64_t> dims) {
    int64_t n = 1;
    for (int64_t d : dims)
      n *= d;
    return n;
  };
  if (product(*split) != type.getNumElements() || product(*shape) != type.getNumElements())
    return emitOpError() << "file_shape and file_split must have the " << type.getNumElements()
                         << " elements of " << type;
  if (permutation->size() != split->size())
    return emitOpError("file_permutation must name each axis of file_split once");
  return verifyDimensions(*this, *permutation, split->size());
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
  return verifyVariable(*this, symbols, getGeneratorAttr(),
                        RankedTensorType::get({getModulo() ? 1 : 2},
                                              IntegerType::get(getContext(), 64)));
}

template <typename Update>
static LogicalResult verifyUpdate(Update op, SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr variable : op.getVariables())
    if (failed(verifyVariable(op, symbols, variable, op.getGradient().getType())))
      return failure();
  return success();
}
LogicalResult SgdOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult AdamOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }
LogicalResult AdamWOp::verifySymbolUses(SymbolTableCollection &s) { return verifyUpdate(*this, s); }

} // namespace gc
