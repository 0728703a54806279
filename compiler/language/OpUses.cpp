//===- OpUses.cpp - The buffers of an op as its kernels see them ----------===//
#include "compiler/language/OpUses.h"

#include "compiler/language/ElementTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::kernels {

int64_t BufferUse::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}
int64_t BufferUse::bytes() const { return elements() * (element.getIntOrFloatBitWidth() / 8); }

OpUses::OpUses(Operation *op, ArrayRef<int> aliases)
    : op(op), context(op->getContext()), aliases(aliases) {}

Location OpUses::location() const { return op ? op->getLoc() : UnknownLoc::get(context); }

int OpUses::canonical(int buffer) const {
  if (!op || buffer < 0 || buffer >= int(op->getNumOperands()))
    return buffer;
  // A value that is several operands is one buffer. Where it shares its bytes with a result, it is
  // that result's buffer.
  for (int i = 0; i <= buffer; ++i)
    if (op->getOperand(i) == op->getOperand(buffer))
      for (unsigned j = i; j < op->getNumOperands(); ++j)
        if (op->getOperand(j) == op->getOperand(buffer) && j < aliases.size() && aliases[j] >= 0)
          return op->getNumOperands() + aliases[j];
  for (int i = 0; i < buffer; ++i)
    if (op->getOperand(i) == op->getOperand(buffer))
      return i;
  return buffer;
}

BufferUse OpUses::operand(unsigned index, ArrayRef<int64_t> shape) const {
  auto type = cast<RankedTensorType>(op->getOperand(index).getType());
  return {int(index), SmallVector<int64_t>(shape), type.getElementType()};
}
BufferUse OpUses::operand(unsigned index) const {
  return operand(index, cast<RankedTensorType>(op->getOperand(index).getType()).getShape());
}
BufferUse OpUses::result(unsigned index, ArrayRef<int64_t> shape) const {
  auto type = cast<RankedTensorType>(op->getResult(index).getType());
  return {int(op->getNumOperands() + index), SmallVector<int64_t>(shape), type.getElementType()};
}
BufferUse OpUses::result(unsigned index) const {
  return result(index, cast<RankedTensorType>(op->getResult(index).getType()).getShape());
}
BufferUse OpUses::variable(unsigned index, ArrayRef<int64_t> shape, Type element) const {
  return {int(op->getNumOperands() + op->getNumResults() + index), SmallVector<int64_t>(shape),
          element};
}
BufferUse OpUses::scratch(ArrayRef<int64_t> shape) const {
  return plain(workspace, shape, accumulatorType(context));
}
BufferUse OpUses::plain(int buffer, ArrayRef<int64_t> shape, Type element) const {
  return {buffer, SmallVector<int64_t>(shape), element};
}

llvm::SmallMapVector<int, MemRefType, 8> OpUses::argumentsOf(ArrayRef<BufferUse> uses) const {
  llvm::SmallMapVector<int, MemRefType, 8> arguments;
  for (const BufferUse &use : uses)
    arguments.insert({canonical(use.buffer), MemRefType::get(use.shape, use.element)});
  return arguments;
}

SmallVector<Value> OpUses::viewsOf(ArrayRef<BufferUse> uses,
                                   const llvm::SmallMapVector<int, MemRefType, 8> &arguments,
                                   Block &block, OpBuilder &builder) const {
  SmallVector<Value> views;
  for (const BufferUse &use : uses) {
    auto *found = arguments.find(canonical(use.buffer));
    Value argument = block.getArgument(found - arguments.begin());
    auto type = MemRefType::get(use.shape, use.element);
    if (argument.getType() != type) {
      // The same bytes in another shape.
      SmallVector<int64_t> strides(use.shape.size(), 1);
      for (int64_t i = int64_t(use.shape.size()) - 2; i >= 0; --i)
        strides[i] = strides[i + 1] * use.shape[i + 1];
      argument = memref::ReinterpretCastOp::create(builder, location(), type, argument,
                                                   /*offset=*/0, use.shape, strides);
    }
    views.push_back(argument);
  }
  return views;
}

namespace {
/// Writes what the kernels of an op depend on: kind, attributes, shapes; not its names, its
/// position or the variables that it touches.
class KeyWriter {
public:
  explicit KeyWriter(llvm::raw_ostream &stream) : stream(stream) {}

  void write(Operation *op) {
    stream << op->getName() << '{';
    if (auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
      for (NamedAttribute attribute : properties)
        if (!isa<SymbolRefAttr>(attribute.getValue()))
          stream << attribute.getName().getValue() << '=' << attribute.getValue() << ';';
    stream << '}';
    for (Value operand : op->getOperands())
      stream << '%' << numberOf(operand) << ':' << operand.getType() << ' ';
    stream << "->";
    for (Value result : op->getResults())
      stream << '%' << numberOf(result) << ':' << result.getType() << ' ';
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        stream << '[';
        for (Value argument : block.getArguments())
          stream << '%' << numberOf(argument) << ' ';
        for (Operation &nested : block)
          write(&nested);
        stream << ']';
      }
  }

private:
  unsigned numberOf(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }

  llvm::raw_ostream &stream;
  llvm::DenseMap<Value, unsigned> numbers;
};

} // namespace

std::string keyOf(Operation *op, ArrayRef<int> aliases) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  KeyWriter(stream).write(op);
  stream << '|';
  for (int alias : aliases)
    stream << alias << ',';
  return key;
}

} // namespace gc::kernels
