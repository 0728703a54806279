//===- Limits.h - which sizes, numbers and names gc handles -----*- C++ -*-===//
//
// The one place that decides. The dialect's type and attribute constraints (GcBase.td) and
// verifiers ask here, so that no pass, kernel or library meets a size that its arithmetic cannot
// hold.
//
//===----------------------------------------------------------------------===//
#ifndef GC_DIALECTS_LIMITS_H
#define GC_DIALECTS_LIMITS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace gc {

inline constexpr int64_t kLargestRank = 8;
/// Libraries count along a dimension in 32 bits.
inline constexpr int64_t kLargestDimension = INT32_MAX;
/// Of one tensor. Sums over all tensors of a step then stay far inside 64 bits.
inline constexpr int64_t kLargestBytes = int64_t(1) << 40;

/// Every buffer begins at a multiple of this: kernels and libraries rely on it.
inline constexpr int64_t kBufferAlignment = 64;

/// The product, unless a factor is below 1 or the product is above `most`.
std::optional<int64_t> boundedProduct(llvm::ArrayRef<int64_t> factors, int64_t most);

/// Whether a ranked tensor type is static, without encoding and within the limits above.
bool isWithinLimits(mlir::Type tensor);

/// Whether a float attribute is finite and meets `condition`.
bool isNumber(mlir::Attribute attribute, llvm::function_ref<bool(double)> condition);

/// Why a variable, input or output cannot be called so; empty if it can.
std::string faultOfName(llvm::StringRef name);

} // namespace gc

#endif
