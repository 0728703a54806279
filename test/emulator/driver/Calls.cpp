#include "test/emulator/driver/Calls.h"

#include <charconv>

namespace gc::emulator {

const std::array<std::string_view, callCount> callNames = {
#define GC_CALL(member, exported, parameters) #member,
    GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
};

namespace {

constexpr std::array<std::string_view, callCount> exportedNames = {
#define GC_CALL(member, exported, parameters) #exported,
    GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
};

struct ResultEntry {
  int number;
  const char *name, *text;
  bool sticky = false;
};

constexpr ResultEntry results[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable",
     true},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered", true},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered", true},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated", true},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed", true},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered", true},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error", true},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered", true},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address", true},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space", true},
    {718, "CUDA_ERROR_INVALID_PC", "invalid program counter", true},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure", true},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "forward compatibility was attempted on non supported HW"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error", true},
};

const ResultEntry *entryOf(CUresult result) {
  for (const ResultEntry &entry : results)
    if (entry.number == int(result))
      return &entry;
  return nullptr;
}

bool parseCall(std::string_view text, Call &call) {
  for (size_t i = 0; i < callCount; ++i)
    if (text == callNames[i] || text == exportedNames[i]) {
      call = Call(i);
      return true;
    }
  return false;
}

bool parseResult(std::string_view text, CUresult &result) {
  for (const ResultEntry &entry : results)
    if (text == entry.name) {
      result = CUresult(entry.number);
      return entry.number != 0;
    }
  uint64_t number = 0;
  if (!parseNumber(text, number) || number == 0 || number > 999)
    return false;
  result = CUresult(number);
  return true;
}

} // namespace

bool parseNumber(std::string_view text, uint64_t &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

const char *resultName(CUresult result) {
  const ResultEntry *entry = entryOf(result);
  return entry ? entry->name : nullptr;
}

const char *resultText(CUresult result) {
  const ResultEntry *entry = entryOf(result);
  return entry ? entry->text : nullptr;
}

bool isSticky(CUresult result) {
  const ResultEntry *entry = entryOf(result);
  return entry && entry->sticky;
}

bool parseInjection(std::string_view text, Injection &injection) {
  size_t colon = text.find(':'), equals = text.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
    return false;
  std::string_view result = text.substr(equals + 1);
  using Kind = Injection::Kind;
  if (result == "hang" || result == "crash" || result == "wrong")
    injection.kind = result == "hang" ? Kind::Hang : result == "crash" ? Kind::Crash : Kind::Wrong;
  return parseCall(text.substr(0, colon), injection.call) &&
         (injection.kind != Kind::Wrong || injection.call == Call::cuLaunchKernel) &&
         parseNumber(text.substr(colon + 1, equals - colon - 1), injection.number) &&
         injection.number > 0 &&
         (injection.kind != Injection::Kind::Fail || parseResult(result, injection.result));
}

} // namespace gc::emulator
