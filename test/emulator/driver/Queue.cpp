#include "test/emulator/driver/Queue.h"

#include "test/emulator/driver/Log.h"
#include "test/emulator/ptx/Ptx.h"

#include <new>
#include <string_view>
#include <utility>

namespace gc::emulator {
namespace {

size_t digest(const HostRange &range) {
  return std::hash<std::string_view>()(
      std::string_view(reinterpret_cast<const char *>(range.start), range.bytes));
}

CUresult resultOf(ptx::Fault::Kind kind) {
  using Kind = ptx::Fault::Kind;
  switch (kind) {
  case Kind::IllegalAddress:
  case Kind::UseAfterFree:
  case Kind::Uninitialised:
  case Kind::SharedBounds:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case Kind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case Kind::SharedRace:
  case Kind::DivergentBarrier:
  case Kind::Trap:
  case Kind::BadLaunch:
    return CUDA_ERROR_LAUNCH_FAILED;
  case Kind::Unsupported:
  case Kind::IllegalInstruction:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case Kind::InstructionBudget:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  return CUDA_ERROR_UNKNOWN;
}

} // namespace

uint32_t Queue::openLane() {
  for (uint32_t lane = 0; lane < lanes.size(); ++lane)
    if (!lanes[lane].open && lanes[lane].waiting.empty()) {
      lanes[lane].open = true;
      return lane;
    }
  if (lanes.size() == maximumLanes)
    throw std::bad_alloc();
  lanes.emplace_back();
  return uint32_t(lanes.size() - 1);
}

void Queue::closeLane(uint32_t lane) { lanes[lane].open = false; }

std::shared_ptr<Operation> Queue::add(uint32_t lane, std::shared_ptr<const Work> work,
                                      std::vector<std::shared_ptr<Operation>> after) {
  Lane &own = lanes[lane];
  uint32_t place = uint32_t(own.history.size()) + 1;
  if (place > maximumPlace)
    throw std::bad_alloc();
  auto operation = std::make_shared<Operation>();
  operation->moment.clock = host;
  if (own.last)
    operation->moment.clock.join(own.last->moment.clock);
  for (const auto &earlier : after)
    operation->moment.clock.join(earlier->moment.clock);
  operation->moment.clock.set(lane, place);
  operation->moment.epoch = lane << placeBits | place;
  operation->number = ++added;
  if (work->reads.bytes && !work->reads.isFreed())
    operation->expected = digest(work->reads);
  operation->work = std::move(work);
  operation->after = std::move(after);
  own.history.push_back(operation->work);
  own.waiting.push_back(operation);
  own.last = operation;
  return operation;
}

std::shared_ptr<Operation> Queue::takeNext() {
  std::vector<Lane *> ready;
  for (Lane &lane : lanes) {
    if (lane.waiting.empty())
      continue;
    bool blocked = false;
    for (const auto &earlier : lane.waiting.front()->after)
      blocked |= !earlier->done;
    if (!blocked)
      ready.push_back(&lane);
  }
  if (ready.empty())
    return nullptr;
  Lane *chosen = ready.front();
  auto numberOf = [](const Lane *lane) { return lane->waiting.front()->number; };
  for (Lane *lane : ready)
    if (order == Order::First ? numberOf(lane) < numberOf(chosen)
                              : numberOf(lane) > numberOf(chosen))
      chosen = lane;
  if (order == Order::Random)
    chosen = ready[random() % ready.size()];
  auto operation = std::move(chosen->waiting.front());
  chosen->waiting.pop_front();
  return operation;
}

CUresult Queue::run(Operation &operation) {
  const Work &work = *operation.work;
  try {
    if (work.reads.isFreed() || work.writes.isFreed())
      throw ptx::Fault(ptx::Fault::Kind::UseAfterFree,
                       "its pinned memory was freed before the stream got there");
    if (operation.expected && digest(work.reads) != *operation.expected)
      throw ptx::Fault(ptx::Fault::Kind::Trap,
                       "the host changed the " + std::to_string(work.reads.bytes) +
                           " bytes of pinned memory that it reads before the stream got there");
    if (work.run)
      work.run(operation.moment);
  } catch (const ptx::Fault &fault) {
    CUresult result = resultOf(fault.kind);
    report(work.name + ": " + fault.what() + " [" + resultName(result) + "]");
    operation.done = true;
    drop();
    return result;
  }
  if (work.writes.bytes)
    forgetExpectations(work.writes);
  now += work.nanoseconds;
  operation.finished = now;
  operation.done = true;
  operation.after.clear();
  return CUDA_SUCCESS;
}

// The stream's own writes to the host's memory are no mistake of the host.
void Queue::forgetExpectations(const HostRange &written) {
  for (Lane &lane : lanes)
    for (const auto &waiting : lane.waiting)
      if (waiting->work->reads.overlaps(written))
        waiting->expected.reset();
}

CUresult Queue::waitFor(const std::shared_ptr<Operation> &operation) {
  while (operation && !operation->done)
    if (CUresult result = run(*takeNext()); result != CUDA_SUCCESS)
      return result;
  if (operation)
    host.join(operation->moment.clock);
  return CUDA_SUCCESS;
}

CUresult Queue::waitForAll() {
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    if (CUresult result = waitFor(lanes[lane].last); result != CUDA_SUCCESS)
      return result;
  return CUDA_SUCCESS;
}

void Queue::drop() {
  for (Lane &lane : lanes) {
    for (const auto &waiting : lane.waiting) {
      waiting->done = true;
      waiting->after.clear();
    }
    lane.waiting.clear();
  }
}

std::string Queue::nameOf(Epoch epoch) const {
  return lanes[epoch >> placeBits].history[(epoch & maximumPlace) - 1]->name;
}

} // namespace gc::emulator
