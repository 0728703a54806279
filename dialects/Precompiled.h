//===- Precompiled.h - What nearly every file of the compiler includes ----===//
//
// GCC reads this once (dialects/CMakeLists.txt) and then starts from its memory image: a file that
// includes MLIR compiles in a third of the time. Files still include what they use, and must
// compile with -DGC_PRECOMPILED_HEADERS=OFF.
//
//===----------------------------------------------------------------------===//
#ifndef GC_DIALECTS_PRECOMPILED_H
#define GC_DIALECTS_PRECOMPILED_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#endif // GC_DIALECTS_PRECOMPILED_H
