// The functions of the driver as numbers, how often each was called, and which call is to fail.
#ifndef GC_TEST_EMULATOR_DRIVER_CALLS_H
#define GC_TEST_EMULATOR_DRIVER_CALLS_H

#include "runtime/cuda/DriverApi.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace gc::emulator {

using namespace gc::runtime::cuda;

constexpr int driverVersion = 13000;

enum class Call : unsigned {
#define GC_CALL(member, exported, parameters) member,
  GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
      count
};

constexpr size_t callCount = size_t(Call::count);

// Names without version suffix, as they stand in the API's documentation.
extern const std::array<std::string_view, callCount> callNames;

// Numbers of the driver that we answer but that nobody of ours tests for by name.
constexpr CUresult errorCaptureMerge = CUresult(902);
constexpr CUresult errorCaptureUnmatched = CUresult(903);
constexpr CUresult errorCaptureUnjoined = CUresult(904);
constexpr CUresult errorCaptureIsolation = CUresult(905);
constexpr CUresult errorCapturedEvent = CUresult(907);
constexpr CUresult errorCaptureWrongThread = CUresult(908);

// The driver's name and sentence for a result; null where it has none.
const char *resultName(CUresult result);
const char *resultText(CUresult result);

// Whether the driver answers every later call with it too.
bool isSticky(CUresult result);

// The `number`-th call (from 1) of `call` fails with `result`, or never returns; a launch may also
// succeed with a wrong result.
struct Injection {
  enum class Kind { Fail, Hang, Crash, Wrong };
  Call call;
  uint64_t number;
  CUresult result = CUDA_SUCCESS;
  Kind kind = Kind::Fail;
};

// All of `text` as a decimal number.
bool parseNumber(std::string_view text, uint64_t &number);

// Reads CALL:N=RESULT; CALL with or without version suffix, RESULT a name or a number, or the words
// hang and crash; of cuLaunchKernel also wrong.
bool parseInjection(std::string_view text, Injection &injection);

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_CALLS_H
