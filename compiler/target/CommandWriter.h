//===- CommandWriter.h - the commands of one op -----------------*- C++ -*-===//
#ifndef GC_COMPILER_TARGET_COMMANDWRITER_H
#define GC_COMPILER_TARGET_COMMANDWRITER_H

#include "compiler/language/ArgumentAccess.h"
#include "compiler/target/Target.h"

namespace gc {

class CommandWriter {
public:
  CommandWriter(mlir::Operation *op, const OpBuffers &buffers,
                std::vector<std::unique_ptr<plan::CommandT>> &commands)
      : op(op), buffers(buffers), commands(commands), first(commands.size()) {}

  template <typename T> void add(T operation) { addCommand()->operation.Set(std::move(operation)); }

  /// The buffers that a kernel of the op gets: numbered operands first, then results, then
  /// variables; below 0 the workspace.
  std::vector<uint32_t> resolve(llvm::ArrayRef<int> numbers) const;
  uint32_t resolve(int number) const;

  /// Attributes the op's FLOPs and bytes to its first command, so that they count once.
  void finish();

private:
  plan::CommandT *addCommand();

  mlir::Operation *op;
  const OpBuffers &buffers;
  std::vector<std::unique_ptr<plan::CommandT>> &commands;
  size_t first;
};

/// A command without its operation that does several updates, with a part for each.
std::unique_ptr<plan::CommandT> commandOf(llvm::ArrayRef<UpdateOpInterface> updates);

std::vector<plan::Access> planAccess(llvm::ArrayRef<kernels::ArgumentAccess> access);

} // namespace gc

#endif // GC_COMPILER_TARGET_COMMANDWRITER_H
