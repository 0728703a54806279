// runtime/cuda/DriverApi.h against the toolkit's own cuda.h: every number, name and signature.
#include "runtime/cuda/DriverApi.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#ifndef GC_HAS_CUDA_HEADER

TEST(DriverApiTest, MatchesTheToolkit) { GTEST_SKIP() << "there is no cuda.h of CUDA 12 or later"; }

#else

namespace gc::runtime::cuda {
// The signatures by type, while our names are the only ones.
#define GC_CALL(member, exported, parameters) using Type_##member = CUresult parameters;
GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
} // namespace gc::runtime::cuda

// Last: its macros rename functions.
#include <cuda.h>

namespace {

namespace ours = gc::runtime::cuda;

// What a type of ours is called in cuda.h.
template <class T> struct Real { using type = T; };
template <class T> struct Real<const T> { using type = const typename Real<T>::type; };
template <class T> struct Real<T *> { using type = typename Real<T>::type *; };
template <class Result, class... Arguments> struct Real<Result(Arguments...)> {
  using type = typename Real<Result>::type(typename Real<Arguments>::type...);
};
#define GC_TYPE(name)                                                                              \
  template <> struct Real<ours::name> { using type = ::name; };
GC_TYPE(CUcontext)
GC_TYPE(CUmodule)
GC_TYPE(CUfunction)
GC_TYPE(CUstream)
GC_TYPE(CUevent)
GC_TYPE(CUgraph)
GC_TYPE(CUgraphExec)
GC_TYPE(CUuuid)
GC_TYPE(CUresult)
GC_TYPE(CUdevice_attribute)
GC_TYPE(CUfunction_attribute)
GC_TYPE(CUjit_option)
GC_TYPE(CUstreamCaptureMode)
#undef GC_TYPE

TEST(DriverApiTest, TypesMatchTheToolkit) {
  EXPECT_TRUE((std::is_same_v<ours::CUdevice, ::CUdevice>));
  EXPECT_TRUE((std::is_same_v<ours::CUdeviceptr, ::CUdeviceptr>));
  EXPECT_EQ(sizeof(ours::CUuuid), sizeof(::CUuuid));
  EXPECT_EQ(alignof(ours::CUuuid), alignof(::CUuuid));
  EXPECT_EQ(sizeof(ours::CUresult), sizeof(::CUresult));
}

TEST(DriverApiTest, NumbersMatchTheToolkit) {
  int compared = 0;
#define GC_VALUE(name)                                                                             \
  EXPECT_EQ(int(ours::name), int(::name)) << #name;                                                \
  ++compared;
#include "test/emulator/driver/DriverApiValues.inc"
#undef GC_VALUE
  EXPECT_GE(compared, 75); // the list is read from our header: it must not come out short
}

// `exported` is rewritten by the macros of cuda.h only where the toolkit has a newer function of
// that name; its signature must be the same then, for we call the one that we name.
#define GC_CALL(member, exported, parameters)                                                      \
  TEST(DriverApiSignatureTest, member) {                                                           \
    EXPECT_TRUE((std::is_same_v<Real<ours::Type_##member>::type, decltype(::exported)>));          \
    std::string named = #exported;                                                                 \
    if (named != "cuEventElapsedTime") { /* drivers export the older one too */                    \
      EXPECT_EQ(named, GC_EXPANDED(member));                                                       \
    }                                                                                              \
  }
#define GC_EXPANDED(name) GC_TEXT(name)
#define GC_TEXT(name) #name
GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL

} // namespace

#endif
