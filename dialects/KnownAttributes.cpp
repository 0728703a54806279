//===- KnownAttributes.cpp - no attribute is ignored ----------------------===//
//
// Attributes of an op are declared with it; those that begin with `gc.` are what models say about
// modules, inputs and outputs, and what passes write down for those that follow. Both lists are
// closed: what is not in them would have no effect, and so is an error. Attributes with the prefix
// of another dialect are nobody's business here.
//
//===----------------------------------------------------------------------===//
#include "dialects/KnownAttributes.h"
#include "dialects/Gc.h"
#include "dialects/Limits.h"
#include "dialects/StrictProperties.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace gc {
namespace {

/// What carries an attribute.
enum Place : unsigned {
  Module = 1,
  Function = 2,
  Argument = 4,
  Result = 8,
  Parameter = 16,
  State = 32,
  Step = 64,    // any other op of the dialect
  Kernel = 128, // what code generation makes
};

bool isSize(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
}
bool isCount(Attribute value) { return isSize(value) && cast<IntegerAttr>(value).getInt() > 0; }
bool isInteger(Attribute value) { return isa<IntegerAttr>(value); }
bool isOffsets(Attribute value) { return isa<DenseI64ArrayAttr>(value); }
bool isUnit(Attribute value) { return isa<UnitAttr>(value); }
bool isText(Attribute value) { return isa<StringAttr>(value); }
bool isName(Attribute value) {
  return isText(value) && faultOfName(cast<StringAttr>(value).getValue()).empty();
}
bool isList(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && llvm::is_contained({"micro_batch", "step", "evaluate"}, text.getValue());
}
bool isPrecision(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && llvm::is_contained({"f32", "bf16"}, text.getValue());
}
bool isSeconds(Attribute value) {
  auto number = dyn_cast<FloatAttr>(value);
  return number && isNumber(number, [](double seconds) { return seconds >= 0; });
}
bool isRates(Attribute value) {
  auto rates = dyn_cast<DenseF64ArrayAttr>(value);
  return rates && llvm::all_of(rates.asArrayRef(), [](double rate) { return rate > 0; });
}

struct Known {
  StringLiteral name;
  unsigned places;
  bool (*fits)(Attribute);
  StringLiteral expected;
};

constexpr Known kKnown[] = {
    // What a model says.
    {"gc.classes", Module, isCount, "a 64-bit integer from 1 on"},
    {"gc.frozen", Parameter, isUnit, "no value"},
    {"gc.input", Argument, isName, "a name without control characters"},
    {"gc.precision", Step, isPrecision, "\"f32\" or \"bf16\""},
    {"gc.output", Result, isName, "a name without control characters"},
    // What passes say.
    {"gc.list", Function, isList, "\"micro_batch\", \"step\" or \"evaluate\""},
    {"gc.recomputed", Step, isUnit, "no value"},
    {"gc.recomputed_ops", Function, isSize, "a 64-bit integer from 0 on"},
    {"gc.rederived", Step, isUnit, "no value"},
    {"gc.mixes_samples", Module, isText, "a string"},
    {"gc.workspace", Step, isSize, "a 64-bit integer from 0 on"},
    {"gc.workspace_offset", Step, isSize, "a 64-bit integer from 0 on"},
    {"gc.offset", Parameter | State, isSize, "a 64-bit integer from 0 on"},
    {"gc.offsets", Argument | Step, isOffsets, "array<i64>"},
    {"gc.arena_bytes", Module, isSize, "a 64-bit integer from 0 on"},
    {"gc.lower_bound_bytes", Module, isSize, "a 64-bit integer from 0 on"},
    {"gc.op", Step, isSize, "a 64-bit integer from 0 on"},
    {"gc.seconds", Step, isSeconds, "a finite number from 0 on"},
    {"gc.roofline", Module, isRates, "array<f64> of numbers above 0"},
    // What kernels ask of code generation.
    {"gc.min_blocks", Kernel, isInteger, "an integer"},
    {"gc.dynamic_shared", Kernel, isInteger, "an integer"},
    {"gc.index_bits", Kernel, isInteger, "an integer"},
    {"gc.unroll", Kernel, isUnit, "no value"},
};

constexpr std::pair<Place, StringLiteral> kPlaceNames[] = {
    {Module, "a module"},       {Function, "a function"},
    {Argument, "an argument"},  {Result, "a result of a function"},
    {Parameter, "a parameter"}, {State, "state"},
    {Step, "an op of a step"},  {Kernel, "an op of a kernel"}};

std::string placesText(unsigned places) {
  std::string text;
  for (auto [place, name] : kPlaceNames)
    if (places & place)
      text += (text.empty() ? "" : " or ") + name.str();
  return text;
}

Place placeOf(Operation *op) {
  if (isa<ModuleOp>(op))
    return Module;
  if (isa<func::FuncOp>(op))
    return Function;
  if (isa<ParameterOp>(op))
    return Parameter;
  if (isa<StateOp>(op))
    return State;
  return isa_and_nonnull<GcDialect>(op->getDialect()) ? Step : Kernel;
}

// The name among `names` that a typing error or two away from `written`, if any.
StringRef nearest(StringRef written, ArrayRef<StringRef> names) {
  StringRef best;
  unsigned least = 3;
  for (StringRef name : names)
    if (unsigned distance = name.edit_distance(written, true, least); distance < least) {
      least = distance;
      best = name;
    }
  return best;
}

void suggest(InFlightDiagnostic &error, StringRef written, ArrayRef<StringRef> names) {
  if (StringRef name = nearest(written, names); !name.empty())
    error << "; did you mean '" << name << "'?";
}

// "has no attribute 'stride'; it has padding, strides; did you mean 'strides'?"
void describeUnknown(InFlightDiagnostic &error, StringRef written, ArrayRef<StringRef> own) {
  SmallVector<StringRef> possible(own);
  llvm::erase(possible, "operandSegmentSizes"); // nobody writes it
  error << "has no attribute '" << written << "'; it has "
        << (possible.empty() ? "none" : llvm::join(possible, ", "));
  suggest(error, written, possible);
}

LogicalResult verifyPrefixed(Operation *op, NamedAttribute attribute, Place place) {
  StringRef name = attribute.getName();
  const Known *known =
      llvm::find_if(kKnown, [&](const Known &candidate) { return candidate.name == name; });
  if (known == std::end(kKnown)) {
    SmallVector<StringRef> possible;
    for (const Known &candidate : kKnown)
      if (candidate.places & place)
        possible.push_back(candidate.name);
    InFlightDiagnostic error = op->emitError("gc has no attribute '") << name << "'";
    suggest(error, name, possible);
    return error;
  }
  if (!(known->places & place))
    return op->emitError("'") << name << "' belongs to " << placesText(known->places) << ", not to "
                              << placesText(place);
  if (!known->fits(attribute.getValue()))
    return op->emitError("'") << name << "' must be " << known->expected << ", got "
                              << attribute.getValue();
  return success();
}

} // namespace

LogicalResult verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue; // another dialect's, or the dialect's hooks below look at it
    SmallVector<StringRef> possible(llvm::map_range(op->getName().getAttributeNames(),
                                                    [](StringAttr own) { return own.getValue(); }));
    InFlightDiagnostic error = op->emitOpError();
    describeUnknown(error, name, possible);
    return error;
  }
  return success();
}

LogicalResult verifyPropertyNames(Attribute properties, ArrayRef<StringRef> known,
                                  function_ref<InFlightDiagnostic()> emitError) {
  auto dictionary = dyn_cast<DictionaryAttr>(properties);
  if (!dictionary)
    return success(); // MLIR says what is expected
  for (NamedAttribute property : dictionary)
    if (!llvm::is_contained(known, property.getName().getValue())) {
      InFlightDiagnostic error = emitError();
      describeUnknown(error, property.getName(), known);
      return error;
    }
  return success();
}

LogicalResult GcDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyPrefixed(op, attribute, placeOf(op));
}
LogicalResult GcDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                  NamedAttribute attribute) {
  return verifyPrefixed(op, attribute, Argument);
}
LogicalResult GcDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verifyPrefixed(op, attribute, Result);
}

} // namespace gc
