//===- OpUses.h - The buffers of an op as its kernels see them ------------===//
#ifndef GC_COMPILER_LANGUAGE_OPUSES_H
#define GC_COMPILER_LANGUAGE_OPUSES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"

namespace gc::kernels {

/// A buffer as a kernel wants to see it: any shape with the right number of elements will do, as
/// all buffers are contiguous.
struct BufferUse {
  int buffer; // >= 0: the op's operands, then its results, then the variables it changes
  llvm::SmallVector<int64_t> shape;
  mlir::Type element;
  int64_t elements() const;
  int64_t bytes() const;
};

constexpr int workspace = -1;

/// Names the buffers of one op.
class OpUses {
public:
  /// `aliases[i]` is the result that shares its bytes with operand i, or -1.
  OpUses(mlir::Operation *op, llvm::ArrayRef<int> aliases);
  /// For kernels that belong to no single op.
  explicit OpUses(mlir::MLIRContext *context) : context(context) {}

  BufferUse operand(unsigned index, llvm::ArrayRef<int64_t> shape) const;
  BufferUse operand(unsigned index) const; // in its own shape
  BufferUse result(unsigned index, llvm::ArrayRef<int64_t> shape) const;
  BufferUse result(unsigned index) const;
  BufferUse variable(unsigned index, llvm::ArrayRef<int64_t> shape, mlir::Type element) const;
  /// Accumulators in the workspace.
  BufferUse scratch(llvm::ArrayRef<int64_t> shape) const;
  /// For kernels that belong to no single op.
  BufferUse plain(int buffer, llvm::ArrayRef<int64_t> shape, mlir::Type element) const;

  /// Whether a result lies in the bytes of the operand.
  bool isOverwritten(unsigned operand) const {
    return operand < aliases.size() && aliases[operand] >= 0;
  }

  mlir::Location location() const;
  mlir::MLIRContext *getContext() const { return context; }

protected:
  /// One number for all uses of the same bytes: an operand given twice, or one in the bytes of a
  /// result.
  int canonical(int buffer) const;
  /// One argument for each distinct buffer of `uses`, in order of the first use.
  llvm::SmallMapVector<int, mlir::MemRefType, 8> argumentsOf(llvm::ArrayRef<BufferUse> uses) const;
  /// The memref of each use, from the block's arguments.
  llvm::SmallVector<mlir::Value>
  viewsOf(llvm::ArrayRef<BufferUse> uses,
          const llvm::SmallMapVector<int, mlir::MemRefType, 8> &arguments, mlir::Block &block,
          mlir::OpBuilder &builder) const;

  mlir::Operation *op = nullptr;
  mlir::MLIRContext *context;
  llvm::SmallVector<int> aliases;
};

/// What the kernels of an op depend on, as text: kind, attributes, shapes and aliases; not its
/// names, its position or the variables that it touches.
std::string keyOf(mlir::Operation *op, llvm::ArrayRef<int> aliases);

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_OPUSES_H
