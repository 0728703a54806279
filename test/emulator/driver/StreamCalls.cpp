// Streams and events, outside of captures and in them.
#include "test/emulator/driver/Submit.h"

namespace gc::emulator {

CUresult invalidate(Stream &stream, CUresult result) {
  stream.capture->valid = false;
  return result;
}

CUresult submit(Driver &driver, Stream &stream, Work work) {
  auto shared = std::make_shared<const Work>(std::move(work));
  if (!stream.capture) {
    driver.queue.add(stream.lane, std::move(shared));
    return CUDA_SUCCESS;
  }
  if (!stream.capture->valid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto &nodes = stream.capture->graph->nodes;
  nodes.push_back({std::move(shared), std::move(stream.tail), stream.captureLane});
  stream.tail = {nodes.size() - 1};
  return CUDA_SUCCESS;
}

GC_EXPORT CUresult cuCtxSynchronize() {
  return Driver::enter(Call::cuCtxSynchronize, Needs::Context, [&](Driver &driver) {
    if (CUresult result = driver.refuseDuringCapture(true); result != CUDA_SUCCESS)
      return result;
    return driver.queue.waitForAll();
  });
}

GC_EXPORT CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
  return Driver::enter(Call::cuStreamCreate, Needs::Context, [&](Driver &driver) {
    if (!handle || (flags & ~CU_STREAM_NON_BLOCKING))
      return CUDA_ERROR_INVALID_VALUE;
    auto stream = std::make_shared<Stream>();
    stream->device = driver.current();
    stream->origin = driver.origin();
    stream->lane = driver.queue.openLane();
    *handle = driver.streams.add(std::move(stream));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  return Driver::enter(Call::cuStreamDestroy, Needs::Release, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
      invalidate(*stream, CUDA_SUCCESS);
      std::erase(stream->capture->members, stream.get());
      if (stream->capture->origin == stream.get())
        driver.endCapture(stream->capture);
    }
    driver.queue.closeLane(stream->lane);
    driver.streams.remove(handle);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  return Driver::enter(Call::cuStreamSynchronize, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
      return invalidate(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return driver.queue.waitFor(driver.queue.last(stream->lane));
  });
}

GC_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned flags) {
  return Driver::enter(Call::cuStreamWaitEvent, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    auto event = driver.find(driver.events, eventHandle);
    if (!stream || !event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (event->capture) {
      if (!event->capture->valid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      if (stream->capture && stream->capture != event->capture) {
        event->capture->valid = false;
        return invalidate(*stream, errorCaptureMerge);
      }
      if (!stream->capture) {
        // The stream joins the capture.
        stream->capture = event->capture;
        stream->captureLane = event->capture->graph->lanes++;
        stream->tail.clear();
        event->capture->members.push_back(stream.get());
      }
      stream->tail.insert(stream->tail.end(), event->tail.begin(), event->tail.end());
      return CUDA_SUCCESS;
    }
    if (stream->capture) {
      report(driver.origin() + ": a capturing stream waits for work outside of its capture");
      return invalidate(*stream, errorCaptureIsolation);
    }
    if (event->recorded)
      driver.queue.add(stream->lane,
                       std::make_shared<const Work>(Work{.name = "cuStreamWaitEvent"}),
                       {event->recorded});
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuEventCreate(CUevent *handle, unsigned flags) {
  return Driver::enter(Call::cuEventCreate, Needs::Context, [&](Driver &driver) {
    // Blocking synchronisation (1) makes no difference here.
    if (!handle || (flags & ~(CU_EVENT_DISABLE_TIMING | 1u)))
      return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>();
    event->device = driver.current();
    event->origin = driver.origin();
    event->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    *handle = driver.events.add(std::move(event));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
  return Driver::enter(Call::cuEventDestroy, Needs::Release, [&](Driver &driver) {
    if (!driver.find(driver.events, handle))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.events.remove(handle);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuEventRecord(CUevent eventHandle, CUstream handle) {
  return Driver::enter(Call::cuEventRecord, Needs::Context, [&](Driver &driver) {
    auto event = driver.find(driver.events, eventHandle);
    auto stream = driver.find(driver.streams, handle);
    if (!stream || !event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
      if (!stream->capture->valid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      event->capture = stream->capture;
      event->tail = stream->tail;
      event->recorded = nullptr;
      return CUDA_SUCCESS;
    }
    event->capture = nullptr;
    event->recorded = driver.queue.add(
        stream->lane,
        std::make_shared<const Work>(Work{.name = "cuEventRecord", .nanoseconds = 500}));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuEventSynchronize(CUevent handle) {
  return Driver::enter(Call::cuEventSynchronize, Needs::Context, [&](Driver &driver) {
    auto event = driver.find(driver.events, handle);
    if (!event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture) {
      event->capture->valid = false;
      return errorCapturedEvent;
    }
    return driver.queue.waitFor(event->recorded);
  });
}

GC_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return Driver::enter(Call::cuEventElapsedTime, Needs::Context, [&](Driver &driver) {
    auto from = driver.find(driver.events, start), to = driver.find(driver.events, end);
    if (!from || !to)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds)
      return CUDA_ERROR_INVALID_VALUE;
    if (!from->timed || !to->timed || !from->recorded || !to->recorded)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!from->recorded->done || !to->recorded->done)
      return CUDA_ERROR_NOT_READY;
    *milliseconds = float(double(int64_t(to->recorded->finished - from->recorded->finished)) / 1e6);
    return CUDA_SUCCESS;
  });
}

} // namespace gc::emulator
