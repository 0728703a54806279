// Our declarations of NVML against NVIDIA's: every number, struct and signature that we use.
#include "runtime/nvml/NvmlApi.h"

#include <gtest/gtest.h>

#if __has_include(<nvml.h>)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // what is deprecated is still there
#include <nvml.h>

#include <cstddef>
#include <type_traits>

// As functions, among our types.
namespace gc::runtime::nvml::declared {
#define GC_DECLARE(result, symbol, parameters) result symbol parameters;
GC_NVML_FUNCTIONS(GC_DECLARE)
#undef GC_DECLARE
} // namespace gc::runtime::nvml::declared

namespace ours = gc::runtime::nvml;

namespace {

template <class T>
concept Complete = requires {
  sizeof(T);
};

/// Whether two types are passed the same way: numbers of one size (and sign, where they are not
/// enumerations), structs of one size, pointers to such, handles of nothing known.
template <class A, class B> constexpr bool sameAbi() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>)
    return std::is_const_v<std::remove_pointer_t<A>> == std::is_const_v<std::remove_pointer_t<B>> &&
           sameAbi<std::remove_cv_t<std::remove_pointer_t<A>>,
                   std::remove_cv_t<std::remove_pointer_t<B>>>();
  else if constexpr (std::is_class_v<A> && std::is_class_v<B>) {
    if constexpr (Complete<A> && Complete<B>)
      return sizeof(A) == sizeof(B) && alignof(A) == alignof(B);
    else
      return !Complete<A> && !Complete<B>;
  } else if constexpr (std::is_enum_v<A> && std::is_enum_v<B>)
    return sizeof(A) == sizeof(B);
  else
    return std::is_same_v<A, B>;
}

template <class A, class B> struct SameSignature : std::false_type {};
template <class A, class... As, class B, class... Bs>
requires(sizeof...(As) == sizeof...(Bs)) struct SameSignature<A(As...), B(Bs...)>
    : std::bool_constant<sameAbi<A, B>() && (sameAbi<As, Bs>() && ...)> {
};

// The check itself can fail.
static_assert(!SameSignature<int(int *), int(int)>::value);
static_assert(!SameSignature<int(char *), int(const char *)>::value);
static_assert(!SameSignature<int(ours::nvmlMemory_t *), int(::nvmlMemory_v2_t *)>::value);
static_assert(!SameSignature<int(unsigned), int(unsigned, unsigned)>::value);

#define GC_COMPARE(result, symbol, parameters)                                                     \
  static_assert(SameSignature<decltype(ours::declared::symbol), decltype(::symbol)>::value,        \
                #symbol);
GC_NVML_FUNCTIONS(GC_COMPARE)
#undef GC_COMPARE

#define GC_SAME(name) static_assert(unsigned(ours::name) == unsigned(::name))
GC_SAME(NVML_SUCCESS);
GC_SAME(NVML_ERROR_UNINITIALIZED);
GC_SAME(NVML_ERROR_INVALID_ARGUMENT);
GC_SAME(NVML_ERROR_NOT_SUPPORTED);
GC_SAME(NVML_ERROR_NO_PERMISSION);
GC_SAME(NVML_ERROR_NOT_FOUND);
GC_SAME(NVML_ERROR_INSUFFICIENT_SIZE);
GC_SAME(NVML_ERROR_DRIVER_NOT_LOADED);
GC_SAME(NVML_ERROR_TIMEOUT);
GC_SAME(NVML_ERROR_LIBRARY_NOT_FOUND);
GC_SAME(NVML_ERROR_FUNCTION_NOT_FOUND);
GC_SAME(NVML_ERROR_GPU_IS_LOST);
GC_SAME(NVML_ERROR_LIB_RM_VERSION_MISMATCH);
GC_SAME(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
GC_SAME(NVML_ERROR_UNKNOWN);
GC_SAME(NVML_CLOCK_SM);
GC_SAME(NVML_CLOCK_MEM);
GC_SAME(NVML_TEMPERATURE_GPU);
static_assert(ours::kMemoryVersion2 == nvmlMemory_v2);
static_assert(ours::kNotAvailable == static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE));

#define GC_SAME_FIELD(type, field)                                                                 \
  static_assert(offsetof(ours::type, field) == offsetof(::type, field) &&                          \
                sameAbi<decltype(ours::type::field), decltype(::type::field)>())
GC_SAME_FIELD(nvmlMemory_t, total);
GC_SAME_FIELD(nvmlMemory_t, free);
GC_SAME_FIELD(nvmlMemory_t, used);
GC_SAME_FIELD(nvmlMemory_v2_t, version);
GC_SAME_FIELD(nvmlMemory_v2_t, total);
GC_SAME_FIELD(nvmlMemory_v2_t, reserved);
GC_SAME_FIELD(nvmlMemory_v2_t, free);
GC_SAME_FIELD(nvmlMemory_v2_t, used);
GC_SAME_FIELD(nvmlUtilization_t, gpu);
GC_SAME_FIELD(nvmlUtilization_t, memory);
GC_SAME_FIELD(nvmlProcessInfo_t, pid);
GC_SAME_FIELD(nvmlProcessInfo_t, usedGpuMemory);
GC_SAME_FIELD(nvmlProcessInfo_t, gpuInstanceId);
GC_SAME_FIELD(nvmlProcessInfo_t, computeInstanceId);

} // namespace

TEST(NvmlHeader, OursIsTheirs) { SUCCEED() << "compared when this was compiled"; }

#else

TEST(NvmlHeader, OursIsTheirs) {
  GTEST_SKIP() << "no nvml.h; configure with -DNVML_INCLUDE_DIR=... (see runtime/nvml/README.md)";
}

#endif
