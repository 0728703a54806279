// A value of the imported graph: where it is, and how it lies there.
#ifndef GC_TOOLS_GC_IMPORT_TENSOR_H
#define GC_TOOLS_GC_IMPORT_TENSOR_H

#include "mlir/IR/Value.h"
#include "tools/gc-import/Constant.h"

namespace gc::importer {

/// A parameter or buffer of the model. Its first use decides how it lies inside: as that wants it.
struct Variable {
  std::string name;
  TensorMeta meta;
  bool isParameter = false;
  bool isDeclared = false;
  mlir::Value value;      // once it is read
  std::vector<int> order; // axis i of the value is split axis order[i] of the file
  Shape split;            // of the file's tensor
};

struct Tensor {
  mlir::Value value;            // null: not in the IR yet
  Variable *variable = nullptr; // that this is, as the file has it, before its first use
  ConstantPtr constant;         // known when importing; the layout is plain
  DType dtype = DType::F32;
  Layout layout;
  bool missing = false; // an op that is not supported should have made it

  Shape shape() const { return layout.shape(); }
  size_t rank() const { return layout.dims.size(); }
  int64_t elements() const { return product(layout.sizes); }
};

Tensor constantTensor(ConstantPtr constant);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_TENSOR_H
