//===- Interpreter.h - gc IR executed in double precision -------*- C++ -*-===//
//
// The truth that derivatives and generated kernels are compared with: every op as its formula
// reads, one loop after the other, in double. For tests alone.
//
//===----------------------------------------------------------------------===//
#ifndef GC_TEST_REFERENCE_INTERPRETER_H
#define GC_TEST_REFERENCE_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/reference/Tensor.h"
#include <map>
#include <string>

namespace gc::reference {

using Tensors = std::map<std::string, Tensor>;

struct Outputs {
  Tensors results;   // by their gc.output, or "0", "1", ... where they have none
  Tensors gradients; // by parameter, from gc.gradient
};

/// Executes `function`. `inputs` are by their gc.input, or "0", "1", ...; `variables` hold every
/// parameter and state that the function names, and are changed by its updates. A read is the
/// variable itself, as in the compiled step: an update that comes too early shows in the results.
/// Fails, with an error at the op, for a missing or misshapen input or variable and for an op that
/// it does not know (collectives).
llvm::FailureOr<Outputs> run(mlir::func::FuncOp function, const Tensors &inputs,
                             Tensors &variables);

/// Executes one op without effects (also gc.fused) and returns its results. Fails as `run` does.
llvm::FailureOr<std::vector<Tensor>> evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

} // namespace gc::reference

#endif
