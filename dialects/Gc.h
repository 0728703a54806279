//===- Gc.h - the gc dialect ------------------------------------*- C++ -*-===//
#ifndef GC_DIALECTS_GC_H
#define GC_DIALECTS_GC_H

#include "dialects/InterfaceTypes.h"
#include "dialects/KnownAttributes.h"
#include "dialects/Limits.h"
#include "dialects/OpAnswers.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/GcDialect.h.inc"
#include "dialects/GcEnums.h.inc"
#include "dialects/GcInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/GcAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialects/GcOps.h.inc"

namespace gc {
/// Registers the gc dialect and those that its models use (func, arith, math).
void registerGcDialects(mlir::DialectRegistry &registry);

/// Numbers that gc.optimizer_coefficients gives: (lr, s, a, b).
constexpr int64_t kCoefficients = 4;
} // namespace gc

#endif
