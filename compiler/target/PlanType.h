//===- PlanType.h - element types as plans call them ------------*- C++ -*-===//
#ifndef GC_COMPILER_TARGET_PLANTYPE_H
#define GC_COMPILER_TARGET_PLANTYPE_H

#include "mlir/IR/Types.h"
#include "runtime/plan/Plan_generated.h"
#include <optional>

namespace gc {

/// The plan's name of a tensor's element type; nothing where plans have no such buffers.
std::optional<plan::DType> planType(mlir::Type tensor);

} // namespace gc

#endif // GC_COMPILER_TARGET_PLANTYPE_H
