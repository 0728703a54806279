// Makes ops of the gc dialect, and brings tensors into the order of memory that an op wants.
#ifndef GC_TOOLS_GC_IMPORT_EMITTER_H
#define GC_TOOLS_GC_IMPORT_EMITTER_H

#include "dialects/Gc.h"
#include "models/Initializers.h"
#include "tools/gc-import/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <map>
#include <string>
#include <tuple>

namespace gc::importer {

using Order = std::vector<int>;

class Emitter {
public:
  /// Ops go to the end of `body`, variables before `function`.
  Emitter(mlir::Operation *function, mlir::Block *body);

  /// Of the ops that follow: the module that they are of.
  void setLocation(llvm::StringRef name);

  template <typename Op, typename... Args> Op create(Args &&...args) {
    return Op::create(builder, where, std::forward<Args>(args)...);
  }
  mlir::OpBuilder &attributes() { return builder; }
  mlir::FloatAttr f32(double value) { return builder.getF32FloatAttr(static_cast<float>(value)); }
  mlir::IntegerAttr i64(int64_t value) { return builder.getI64IntegerAttr(value); }
  mlir::DenseI64ArrayAttr array(const Shape &values) {
    return builder.getDenseI64ArrayAttr(values);
  }

  // The IR's own shapes.
  mlir::Value reshape(mlir::Value x, const Shape &shape);
  mlir::Value transpose(mlir::Value x, const Order &permutation);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t offset, int64_t size);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis);
  mlir::Value scale(mlir::Value x, double factor);
  mlir::Value broadcast(mlir::Value x, const Shape &shape, const Shape &dimensions);

  /// A value whose IR dimension i is dimension `order[i]` of the tensor.
  Tensor wrap(mlir::Value value, const Order &order);
  Tensor wrap(mlir::Value value);
  /// The same layout, for an op that works element by element on the IR value.
  Tensor like(const Tensor &tensor, mlir::Value value) const;

  /// The tensor in the IR, with the axes of memory in this order, and its layout.
  Tensor reordered(const Tensor &x, const Order &axes);
  /// The tensor in the IR, as it lies.
  Tensor inMemory(const Tensor &x);
  /// IR dimension i is dimension `order[i]` of the tensor.
  mlir::Value ordered(const Tensor &x, const Order &order);
  mlir::Value plain(const Tensor &x);
  /// The tensor with dimension `dim` last in memory, and otherwise as it lies.
  Tensor withLast(const Tensor &x, size_t dim);
  /// The value with one IR dimension for each axis in memory.
  mlir::Value byAxes(const Tensor &x);

  /// Declares and reads a parameter whose file's tensor is split so, and whose axes have this
  /// order; trailing ones are merged to the shape `inside`, where it is given.
  mlir::Value declare(Variable &variable, const Shape &split, const Order &order,
                      const Shape &inside = {});

  Tensor reshaped(const Tensor &x, const Shape &shape);
  Tensor permuted(const Tensor &x, const Order &dimensions);
  Tensor sliced(const Tensor &x, size_t dim, int64_t start, int64_t size);
  Tensor expanded(const Tensor &x, const Shape &shape);
  Tensor concatenated(const std::vector<Tensor> &parts, size_t dim);
  /// The same number everywhere, or any numbers.
  Tensor filledWith(const Shape &shape, double value);

  void declareState(llvm::StringRef name, StateRole role, mlir::RankedTensorType type,
                    const models::Initializer &init);
  mlir::Value readState(llvm::StringRef name, mlir::Type type);
  mlir::Value generator();

  /// How a parameter starts where no weights are loaded.
  std::map<const Variable *, models::Initializer> initializers;
  int64_t dropouts = 0;
  /// The numbers of a parameter in the archive; null where they cannot be read.
  std::function<ConstantPtr(const std::string &name)> archived;
  /// Whether the dialect has an op for numbers that are known.
  static constexpr bool hasConstants = true;

private:
  Tensor fromVariable(const Tensor &x, const Order &axes);
  mlir::Value constantValue(const Constant &constant);

  mlir::OpBuilder builder, variables;
  mlir::Location where;
  std::map<std::pair<void *, Order>, mlir::Value> transposed;
  std::map<std::pair<void *, Shape>, mlir::Value> shaped;
  std::map<std::tuple<bool, Shape, std::vector<double>>, mlir::Value> constants;
  mlir::Value drawn;
};

/// The shape of an IR value.
Shape shapeOf(mlir::Value value);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_EMITTER_H
