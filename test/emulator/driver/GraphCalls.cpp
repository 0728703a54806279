// Captures and the graphs that come of them.
#include "test/emulator/driver/Submit.h"

namespace gc::emulator {

void Driver::endCapture(std::shared_ptr<Capture> capture) {
  for (Stream *stream : capture->members) {
    stream->capture = nullptr;
    stream->tail.clear();
  }
  for (const auto &[handle, event] : events.all())
    if (event->capture == capture)
      event->capture = nullptr;
  std::erase(captures, capture);
}

namespace {

// Whether every node comes before the end of the stream in which the capture began.
bool isJoined(const Capture &capture) {
  std::vector<bool> joined(capture.graph->nodes.size());
  std::vector<size_t> open = capture.origin->tail;
  while (!open.empty()) {
    size_t node = open.back();
    open.pop_back();
    if (joined[node])
      continue;
    joined[node] = true;
    const auto &after = capture.graph->nodes[node].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  return std::find(joined.begin(), joined.end(), false) == joined.end();
}

} // namespace

GC_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  return Driver::enter(Call::cuStreamBeginCapture, Needs::Context, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
      return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture)
      return CUDA_ERROR_ILLEGAL_STATE;
    auto capture = std::make_shared<Capture>();
    capture->origin = stream.get();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->members = {stream.get()};
    capture->graph = std::make_shared<Graph>();
    capture->graph->device = driver.current();
    capture->graph->lanes = 1;
    stream->capture = capture;
    stream->captureLane = 0;
    stream->tail.clear();
    driver.captures.push_back(std::move(capture));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  // It takes the capture back whatever happens.
  return Driver::enter(Call::cuStreamEndCapture, Needs::Release, [&](Driver &driver) {
    auto stream = driver.find(driver.streams, handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!graph)
      return CUDA_ERROR_INVALID_VALUE;
    *graph = nullptr;
    auto capture = stream->capture;
    if (!capture)
      return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream.get())
      return invalidate(*stream, errorCaptureUnmatched);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != std::this_thread::get_id())
      return invalidate(*stream, errorCaptureWrongThread);
    CUresult result = !capture->valid       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : !isJoined(*capture) ? errorCaptureUnjoined
                                            : CUDA_SUCCESS;
    driver.endCapture(capture);
    if (result == CUDA_SUCCESS && !driver.failing()) {
      capture->graph->origin = driver.origin();
      *graph = driver.graphs.add(capture->graph);
    }
    return result;
  });
}

GC_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *handle, CUgraph graphHandle,
                                               unsigned long long flags) {
  return Driver::enter(Call::cuGraphInstantiate, Needs::Context, [&](Driver &driver) {
    auto graph = driver.find(driver.graphs, graphHandle);
    if (!graph)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!handle || flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    auto executable = std::make_shared<GraphExec>();
    executable->device = driver.current();
    executable->origin = driver.origin();
    executable->nodes = graph->nodes;
    for (uint32_t lane = 0; lane < graph->lanes; ++lane)
      executable->lanes.push_back(driver.queue.openLane());
    *handle = driver.executables.add(std::move(executable));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  return Driver::enter(Call::cuGraphLaunch, Needs::Context, [&](Driver &driver) {
    auto executable = driver.find(driver.executables, handle);
    auto stream = driver.find(driver.streams, streamHandle);
    if (!executable || !stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
      report(driver.origin() + ": graphs inside of graphs are not emulated");
      return invalidate(*stream, CUDA_ERROR_NOT_SUPPORTED);
    }
    std::vector<std::shared_ptr<Operation>> before;
    if (auto last = driver.queue.last(stream->lane))
      before.push_back(std::move(last));
    if (executable->last)
      before.push_back(executable->last);
    std::vector<std::shared_ptr<Operation>> operations;
    for (const Graph::Node &node : executable->nodes) {
      std::vector<std::shared_ptr<Operation>> after;
      for (size_t earlier : node.after)
        after.push_back(operations[earlier]);
      operations.push_back(driver.queue.add(executable->lanes[node.lane], node.work,
                                            after.empty() ? before : std::move(after)));
    }
    executable->last = driver.queue.add(
        stream->lane,
        std::make_shared<const Work>(Work{.name = "cuGraphLaunch", .nanoseconds = 3000}),
        std::move(operations));
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuGraphDestroy(CUgraph handle) {
  return Driver::enter(Call::cuGraphDestroy, Needs::Release, [&](Driver &driver) {
    if (!driver.find(driver.graphs, handle))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.graphs.remove(handle);
    return CUDA_SUCCESS;
  });
}

GC_EXPORT CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return Driver::enter(Call::cuGraphExecDestroy, Needs::Release, [&](Driver &driver) {
    auto executable = driver.find(driver.executables, handle);
    if (!executable)
      return CUDA_ERROR_INVALID_HANDLE;
    for (uint32_t lane : executable->lanes)
      driver.queue.closeLane(lane);
    driver.executables.remove(handle);
    return CUDA_SUCCESS;
  });
}

} // namespace gc::emulator
