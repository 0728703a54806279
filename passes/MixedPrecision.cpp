//===- MixedPrecision.cpp - a step in half precision ----------------------===//
//
// Before:
//   %y = gc.linear %x, %w bias %b : f32
//   %n, %mean, %rstd = gc.layer_norm %y, %g, %h
//   %dw = gc.linear_grad_weight %x, %dy : f32
//   gc.sgd @w, %dw, %c
// After (type=bf16), with %x, %y, %n and %dy of bf16; %b, %g, %h, %mean, %rstd and %dw stay f32:
//   %v = gc.cast %w : f32 -> bf16
//   %y = gc.linear %x, %v bias %b : bf16
//   %n, %mean, %rstd = gc.layer_norm %y, %g, %h
//   %dw = gc.linear_grad_weight %x, %dy : bf16 -> f32
//   gc.sgd @w, %dw, %c
//
// First each op is asked what it takes (PrecisionOpInterface), from the last to the first: a value
// that only ops in f32 read is written in f32, and nothing is widened that was just narrowed. Then,
// from the first to the last, results get their types, and casts bring operands to theirs.
//
// A half copy of a parameter is made again for each op that reads it, so that none is alive from
// the forward to the backward pass. Other values are cast once.
//
//===----------------------------------------------------------------------===//
#include "passes/MixedPrecision.h"
#include "dialects/Gc.h"
#include "dialects/OpName.h"
#include "passes/ModelFunction.h"
#include "passes/NamePatterns.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_MIXEDPRECISIONPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

constexpr StringLiteral kHalf = "bf16"; // what --precision and its overrides take beside f32
constexpr StringLiteral kSingle = "f32";

bool isFloat(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// The layer that an op belongs to; of one without a name, where it was written.
std::string layerOf(Operation *op) {
  std::string name = displayName(op);
  StringRef layer = StringRef(name).rsplit(':').first;
  return layer.contains('@') ? name : layer.str();
}

/// Which layers have a precision of their own.
class Overrides {
public:
  /// Fails where `text` is not well formed.
  static llvm::Expected<Overrides> parse(StringRef text) {
    Overrides parsed;
    SmallVector<StringRef> parts;
    text.split(parts, ',', -1, /*KeepEmpty=*/!text.empty());
    for (StringRef part : parts) {
      auto [pattern, type] = part.rsplit('=');
      if (pattern.empty() || pattern.size() == part.size() ||
          !llvm::is_contained({kHalf, kSingle}, type.trim()))
        return llvm::createStringError("'" + part + "': expected PATTERN=TYPE, with f32 or bf16");
      llvm::Expected<NamePatterns> names = NamePatterns::parse(pattern);
      if (!names)
        return names.takeError();
      parsed.rows.push_back({std::move(*names), type.trim() == kSingle});
    }
    return parsed;
  }

  /// Why a pattern fits no layer; empty where each fits some.
  std::string fault(ArrayRef<std::string> layers) const {
    for (const Row &row : rows)
      if (std::string fault = row.names.fault(layers, "layer"); !fault.empty())
        return fault;
    return {};
  }

  /// Whether the op stays in f32. The last pattern that fits wins, and the op's own attribute over
  /// all of them.
  bool keepsSingle(Operation *op) const {
    if (auto own = op->getAttrOfType<StringAttr>(kPrecisionAttr))
      return own.getValue() == kSingle;
    bool single = false;
    for (const Row &row : rows)
      if (row.names.match(layerOf(op)))
        single = row.single;
    return single;
  }

private:
  struct Row {
    NamePatterns names;
    bool single;
  };
  SmallVector<Row> rows;
};

class Narrowing {
public:
  Narrowing(Block &block, const Overrides &overrides)
      : block(block), overrides(overrides),
        half(BFloat16Type::get(block.getParent()->getContext())),
        single(Float32Type::get(half.getContext())) {}

  void run() {
    for (Operation &op : llvm::reverse(block))
      decide(&op);
    for (Operation &op : llvm::make_early_inc_range(block))
      rewrite(&op);
  }

private:
  /// Which results of an op become half, and with it whether its operands do.
  void decide(Operation *op) {
    auto rules = dyn_cast<PrecisionOpInterface>(op);
    if (!rules || rules.getPrecisionRule() == PrecisionRule::Single || overrides.keepsSingle(op))
      return;
    bool alike = rules.getPrecisionRule() == PrecisionRule::Alike, narrows = !alike;
    for (Value result : op->getResults())
      if (isFloat(result) && !rules.staysSingle(result) && !isReadAsSingle(result)) {
        halves.insert(result);
        narrows = true;
      }
    if (!narrows)
      return;
    takesHalves.insert(op);
    if (alike)
      for (Value result : op->getResults())
        if (isFloat(result) && !rules.staysSingle(result))
          halves.insert(result);
  }

  bool takesHalf(OpOperand &use) {
    return takesHalves.contains(use.getOwner()) &&
           !cast<PrecisionOpInterface>(use.getOwner()).staysSingle(use.get());
  }
  bool isReadAsSingle(Value result) {
    return !result.use_empty() &&
           llvm::none_of(result.getUses(), [&](OpOperand &use) { return takesHalf(use); });
  }

  void rewrite(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isFloat(operand.get()))
        operand.set(inType(operand.get(), takesHalf(operand) ? half : single, op));
    for (Value result : op->getResults())
      if (halves.contains(result))
        result.setType(cast<RankedTensorType>(result.getType()).clone(half));
  }

  Value inType(Value value, Type element, Operation *reader) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    Value made;
    Value &known = value.getDefiningOp<ReadOp>() || isa<BlockArgument>(value) ? made : casts[value];
    if (!known) {
      OpBuilder builder(reader);
      known = CastOp::create(builder, reader->getLoc(), type.clone(element), value);
    }
    return known;
  }

  Block &block;
  const Overrides &overrides;
  Type half, single;
  llvm::DenseSet<Value> halves;
  llvm::DenseSet<Operation *> takesHalves;
  llvm::DenseMap<Value, Value> casts;
};

struct MixedPrecisionPass : impl::MixedPrecisionPassBase<MixedPrecisionPass> {
  using MixedPrecisionPassBase::MixedPrecisionPassBase;
  void runOnOperation() override {
    PrecisionWish wish{type, of};
    if (std::string wrong = wish.check("type", "of"); !wrong.empty()) {
      getOperation().emitError("mixed precision: ") << wrong;
      return signalPassFailure();
    }
    if (failed(mixPrecision(getOperation(), wish)))
      signalPassFailure();
  }
};

} // namespace

std::string PrecisionWish::check(const std::string &typeOption, const std::string &ofOption) const {
  if (type == "f16")
    return typeOption + "=f16 needs losses to be scaled, which is not there yet; " + typeOption +
           "=bf16 needs none and saves as much";
  if (type == "tf32")
    return typeOption + "=tf32: that is --allow-tf32, for --device=cuda";
  if (type != kHalf && type != kSingle)
    return typeOption + "=" + type + ": expected f32 or bf16";
  if (!of.empty() && !isMixed())
    return ofOption + " has no effect with " + typeOption + "=f32: every layer computes in f32";
  llvm::Expected<Overrides> overrides = Overrides::parse(of);
  return overrides ? "" : ofOption + ": " + llvm::toString(overrides.takeError());
}

LogicalResult mixPrecision(ModuleOp module, const PrecisionWish &wish) {
  if (!wish.isMixed())
    return success();
  llvm::Expected<Overrides> overrides = Overrides::parse(wish.of);
  if (!overrides)
    return module.emitError("mixed precision: ") << llvm::toString(overrides.takeError());
  SmallVector<Block *> lists;
  std::vector<std::string> layers;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kListAttr))
      continue;
    lists.push_back(&function.getBody().front());
    for (Operation &op : *lists.back())
      if (isa<PrecisionOpInterface>(op))
        layers.push_back(layerOf(&op));
  }
  if (std::string fault = overrides->fault(layers); !fault.empty())
    return module.emitError("mixed precision: ") << fault;
  for (Block *list : lists)
    Narrowing(*list, *overrides).run();
  return success();
}

} // namespace gc
