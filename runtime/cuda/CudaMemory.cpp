#include "runtime/cuda/CudaMemory.h"

#include "runtime/hal/Arena.h"

#include <algorithm>
#include <cstring>

namespace gc::runtime::cuda {

Result<std::unique_ptr<CudaArena>> CudaArena::create(Context &context, size_t bytes) {
  const Driver &d = context.driver();
  std::string subject = "an arena of " + std::to_string(bytes) + " bytes";
  if (Status entered = context.enter(); !entered)
    return entered.error();
  auto before = context.memory();
  if (!before)
    return before.error();
  std::unique_ptr<CudaArena> arena(new CudaArena(context, bytes));
  CUresult made = d.cuMemAlloc(arena->memory_.out(), std::max<size_t>(bytes, 1));
  if (made == CUDA_ERROR_OUT_OF_MEMORY)
    return deviceError(d.error(made, "cuMemAlloc", subject).message + context.memoryText());
  if (Status fine = d.check(made, "cuMemAlloc", subject); !fine)
    return fine.error();
  if (Status cleared = arena->clear(); !cleared)
    return cleared.error();
  auto after = context.memory();
  if (!after)
    return after.error();
  arena->charged_ =
      std::max<uint64_t>(bytes, before->free > after->free ? before->free - after->free : 0);
  return arena;
}

Status CudaArena::clear() {
  const Driver &d = context_.driver();
  std::string subject = "an arena of " + std::to_string(bytes_) + " bytes";
  GC_CUDA(d, cuMemsetD8Async, subject, address(0), 0, std::max<size_t>(bytes_, 1),
          context_.compute());
  GC_CUDA(d, cuStreamSynchronize, subject, context_.compute());
  return {};
}

Status CudaArena::write(size_t offset, std::span<const std::byte> source) {
  if (Status inside = hal::checkRange(*this, offset, source.size()); !inside)
    return inside;
  if (source.empty())
    return {};
  if (Status entered = context_.enter(); !entered)
    return entered;
  GC_CUDA(context_.driver(), cuMemcpyHtoDAsync, "a copy to the arena", address(offset),
          source.data(), source.size(), context_.compute());
  GC_CUDA(context_.driver(), cuStreamSynchronize, "a copy to the arena", context_.compute());
  return {};
}

Status CudaArena::read(size_t offset, std::span<std::byte> target) {
  if (Status inside = hal::checkRange(*this, offset, target.size()); !inside)
    return inside;
  if (target.empty())
    return {};
  if (Status entered = context_.enter(); !entered)
    return entered;
  GC_CUDA(context_.driver(), cuMemcpyDtoHAsync, "a copy from the arena", target.data(),
          address(offset), target.size(), context_.compute());
  GC_CUDA(context_.driver(), cuStreamSynchronize, "a copy from the arena", context_.compute());
  return {};
}

Result<std::unique_ptr<CudaStaging>> CudaStaging::create(Context &context, size_t bytes) {
  if (Status entered = context.enter(); !entered)
    return entered.error();
  std::unique_ptr<CudaStaging> staging(new CudaStaging(context, bytes));
  GC_CUDA(context.driver(), cuMemHostAlloc, "staging of " + std::to_string(bytes) + " bytes",
          staging->memory_.out(), std::max<size_t>(bytes, 1), 0);
  std::memset(staging->memory_.get(), 0, std::max<size_t>(bytes, 1));
  return staging;
}

Result<std::unique_ptr<CudaEvent>> CudaEvent::create(Context &context) {
  if (Status entered = context.enter(); !entered)
    return entered.error();
  std::unique_ptr<CudaEvent> event(new CudaEvent(context));
  GC_CUDA(context.driver(), cuEventCreate, "", event->event_.out(), CU_EVENT_DISABLE_TIMING);
  return event;
}

Status CudaEvent::record(CUstream stream, const std::string &subject, const char *advice) {
  subject_ = &subject;
  advice_ = advice;
  GC_CUDA(context_.driver(), cuEventRecord, subject, event_.get(), stream);
  return {};
}

Status CudaEvent::block(CUstream stream) {
  GC_CUDA(context_.driver(), cuStreamWaitEvent, "", stream, event_.get(), 0);
  return {};
}

Status CudaEvent::wait() {
  if (Status entered = context_.enter(); !entered)
    return entered;
  CUresult result = context_.driver().cuEventSynchronize(event_.get());
  if (result == CUDA_SUCCESS)
    return {};
  Error error =
      context_.driver().error(result, "cuEventSynchronize", subject_ ? *subject_ : std::string());
  error.message += advice_;
  return error;
}

} // namespace gc::runtime::cuda
