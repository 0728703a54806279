//===- Training.cpp - updates, collectives, fused groups ------------------===//
#include "dialects/ops/Formula.h"
#include "dialects/ops/Inference.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace gc {

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

SmallVector<FlatSymbolRefAttr> AccumulateOp::getVariables() { return {getAccumulatorAttr()}; }
void AccumulateOp::emitUpdate(OpBuilder &b, Location loc, ValueRange operands, ValueRange variables,
                              SmallVectorImpl<Value> &results) {
  results.push_back(arith::AddFOp::create(b, loc, variables[0], operands[0]));
}

SmallVector<FlatSymbolRefAttr> ClearOp::getVariables() { return {getVariableAttr()}; }
Type ClearOp::getVariableType() { return getType(); }
void ClearOp::emitUpdate(OpBuilder &b, Location loc, ValueRange, ValueRange variables,
                         SmallVectorImpl<Value> &results) {
  results.push_back(Formula{b, loc, variables[0].getType()}.constant(0));
}

LogicalResult SquareSumOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({2}, Float32Type::get(context)));
  return success();
}
LogicalResult SquareSumOp::verify() {
  if (getBefore() && tensorType(getBefore()).getDimSize(0) != 2)
    return emitOpError("adds to the result of another gc.square_sum, which are 2 numbers");
  return success();
}

LogicalResult CoefficientsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                               Adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({kCoefficients}, Float32Type::get(context)));
  return success();
}
LogicalResult CoefficientsOp::verify() {
  if (tensorType(getGenerator()).getDimSize(0) != 2)
    return emitOpError("generator must hold (seed, step)");
  if (getSquares() && tensorType(getSquares()).getDimSize(0) != 2)
    return emitOpError("squares are the 2 numbers of a gc.square_sum");
  if (bool(getSquares()) != getClipNorm().has_value())
    return emitOpError("squares are there exactly when clip_norm is");
  return success();
}

SmallVector<FlatSymbolRefAttr> AdvanceOp::getVariables() { return {getGeneratorAttr()}; }

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyCollective(Op op, int64_t inputTimes, int64_t outputTimes) {
  auto input = tensorType(op.getInput()), output = tensorType(op.getOutput());
  if (input.getRank() != output.getRank() || input.getRank() < 1 ||
      input.getShape().drop_front() != output.getShape().drop_front() ||
      input.getDimSize(0) * inputTimes != output.getDimSize(0) * outputTimes)
    return op.emitOpError() << "the result of " << op.getRanks() << " ranks does not fit: " << input
                            << " to " << output;
  return success();
}
LogicalResult AllReduceOp::verify() { return verifyCollective(*this, 1, 1); }
LogicalResult AllGatherOp::verify() { return verifyCollective(*this, getRanks(), 1); }
LogicalResult ReduceScatterOp::verify() { return verifyCollective(*this, 1, getRanks()); }

//===----------------------------------------------------------------------===//
// gc.fused
//===----------------------------------------------------------------------===//

// (%a = %x : tensor<8xf32>, ...): what the body calls the operands.
static ParseResult parseInputs(OpAsmParser &parser, OperationState &result,
                               SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes;
  auto parseInput = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(operandTypes.emplace_back()))
      return failure();
    arguments.back().type = operandTypes.back();
    return success();
  };
  return failure(
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput) ||
      parser.resolveOperands(operands, operandTypes, parser.getCurrentLocation(), result.operands));
}

static void printInputs(OpAsmPrinter &printer, Region &body, ValueRange inputs) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(body.getArguments(), inputs), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
            << std::get<1>(pair).getType();
  });
  printer << ")";
}

static LogicalResult verifyInputs(Operation *op, Block &block) {
  if (block.getNumArguments() != op->getNumOperands())
    return op->emitOpError("body must have one argument per operand");
  for (auto [argument, operand] : llvm::zip(block.getArguments(), op->getOperands()))
    if (argument.getType() != operand.getType())
      return op->emitOpError("body arguments must have the operands' types");
  return success();
}

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  if (parseInputs(parser, result, arguments) || parser.parseArrowTypeList(resultTypes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addTypes(resultTypes);
  return parser.parseRegion(*result.addRegion(), arguments);
}

void FusedOp::print(OpAsmPrinter &printer) {
  printInputs(printer, getBody(), getInputs());
  printer.printArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  if (failed(verifyInputs(*this, block)))
    return failure();
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getOperandTypes() != getResultTypes())
    return yield.emitOpError("must give the group's result types");
  for (Operation &op : block.without_terminator()) {
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    if (!fusible)
      return op.emitOpError("cannot be fused: it does not implement the fusible interface");
    if (fusible.getFusionKind() == FusionKind::SumOverRows)
      for (Operation *user : op.getUsers())
        if (!isa<YieldOp>(user))
          return op.emitOpError("is a sum over rows and cannot feed its own group");
  }
  return success();
}

double FusedOp::getFlops() {
  double flops = 0;
  for (Operation &op : getBody().front().without_terminator())
    flops += cast<CostOpInterface>(op).getFlops();
  return flops;
}

WorkKind FusedOp::getWorkKind() { return WorkKind::Stream; }

// A result may overwrite an operand that every op of the group indexes fully: point (row, channel)
// is read before it is written. Sums over rows go to a buffer of their own.
bool FusedOp::canWriteOver(unsigned operand, unsigned result) {
  if (getOperand(operand).getType() != getResult(result).getType())
    return false;
  auto yielded = getBody().front().getTerminator()->getOperand(result);
  auto producer = yielded.getDefiningOp<FusibleOpInterface>();
  if (!producer ||
      producer.getResultAccess(cast<OpResult>(yielded).getResultNumber()) != Access::Full)
    return false;
  for (OpOperand &use : getBody().getArgument(operand).getUses()) {
    auto user = dyn_cast<FusibleOpInterface>(use.getOwner());
    if (!user || user.getOperandAccess(use.getOperandNumber()) != Access::Full)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// gc.accumulate_product
//===----------------------------------------------------------------------===//

void AccumulateProductOp::build(OpBuilder &builder, OperationState &state, Operation *product,
                                ArrayRef<Attribute> accumulators) {
  state.addOperands(product->getOperands());
  state.addAttribute("accumulators", builder.getArrayAttr(accumulators));
  Block *body = new Block;
  state.addRegion()->push_back(body);
  OpBuilder inner(builder.getContext());
  inner.setInsertionPointToStart(body);
  Operation *clone = inner.clone(*product);
  for (OpOperand &operand : clone->getOpOperands())
    operand.set(body->addArgument(operand.get().getType(), operand.get().getLoc()));
  YieldOp::create(inner, product->getLoc(), clone->getResults());
}

ParseResult AccumulateProductOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  ArrayAttr accumulators;
  if (parseInputs(parser, result, arguments) || parser.parseKeyword("into") ||
      parser.parseAttribute(accumulators, "accumulators", result.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void AccumulateProductOp::print(OpAsmPrinter &printer) {
  printInputs(printer, getBody(), getInputs());
  printer << " into " << getAccumulators();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"accumulators"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult AccumulateProductOp::verify() {
  Block &block = getBody().front();
  if (failed(verifyInputs(*this, block)))
    return failure();
  if (block.getOperations().size() != 2 || !isMemoryEffectFree(getProduct()))
    return emitOpError("must hold one op without effects and a gc.yield");
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError("must end with a gc.yield");
  if (!llvm::equal(getProduct()->getOperands(), block.getArguments()))
    return getProduct()->emitOpError("must take the body's arguments in their order");
  if (!llvm::equal(yield.getOperands(), getProduct()->getResults()))
    return yield.emitOpError("must give all results in their order");
  if (getAccumulators().size() != yield.getNumOperands())
    return emitOpError() << "has " << getAccumulators().size() << " accumulators for "
                         << yield.getNumOperands() << " results";
  return success();
}

SmallVector<FlatSymbolRefAttr> AccumulateProductOp::getVariables() {
  return llvm::to_vector(getAccumulators().getAsRange<FlatSymbolRefAttr>());
}
double AccumulateProductOp::getFlops() { return cast<CostOpInterface>(getProduct()).getFlops(); }
WorkKind AccumulateProductOp::getWorkKind() {
  return cast<CostOpInterface>(getProduct()).getWorkKind();
}

// The accumulators are read, too.
double AccumulateProductOp::getBytesMoved() {
  double bytes = cast<CostOpInterface>(getProduct()).getBytesMoved();
  for (Type type : getProduct()->getResultTypes())
    bytes += static_cast<double>(byteSize(type));
  return bytes;
}

} // namespace gc
