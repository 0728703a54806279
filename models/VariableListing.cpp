//===- VariableListing.cpp - the variables of a model, as files see them ---===//
#include "models/VariableListing.h"
#include "dialects/Gc.h"

using namespace mlir;

namespace gc::models {

int64_t Variable::elements() const { return ShapedType::getNumElements(fileShape); }

std::vector<Variable> listVariables(ModuleOp module) {
  std::vector<Variable> variables;
  for (Operation &op : *module.getBody()) {
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      ArrayRef<int64_t> shape = cast<ShapedType>(parameter.getType()).getShape();
      if (auto inFile = parameter.getFileShape())
        shape = *inFile;
      variables.push_back({parameter.getSymName().str(), true, llvm::to_vector<4>(shape)});
    } else if (auto state = dyn_cast<StateOp>(op);
               state && state.getRole() == StateRole::RunningStatistic) {
      ArrayRef<int64_t> shape = cast<ShapedType>(state.getType()).getShape();
      variables.push_back({state.getSymName().str(), false, llvm::to_vector<4>(shape)});
    }
  }
  return variables;
}

int64_t countParameters(ModuleOp module) {
  int64_t count = 0;
  for (const Variable &variable : listVariables(module))
    if (variable.isParameter)
      count += variable.elements();
  return count;
}

} // namespace gc::models
