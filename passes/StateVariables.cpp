#include "passes/StateVariables.h"
#include "passes/ModelFunction.h"

using namespace mlir;

namespace gc {

StateVariables::StateVariables(ModuleOp module) : module(module), symbols(module) {
  for (Operation &op : *module.getBody())
    if (isa<ParameterOp, StateOp>(op))
      last = &op;
}

ParameterOp StateVariables::parameter(StringAttr name) const {
  return symbols.lookup<ParameterOp>(name);
}

FailureOr<StateOp> StateVariables::add(Location loc, const Twine &name, StateRole role,
                                       RankedTensorType type, double value) {
  std::string text = name.str();
  if (failed(requireFreeName(symbols, text)))
    return failure();
  OpBuilder builder(module.getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(module.getBody());
  auto init =
      InitAttr::get(module.getContext(), InitKind::Constant, builder.getDenseF64ArrayAttr({value}));
  auto state =
      StateOp::create(builder, loc, builder.getStringAttr(text),
                      StateRoleAttr::get(module.getContext(), role), TypeAttr::get(type), init);
  symbols.insert(state);
  last = state;
  return state;
}

} // namespace gc
