// The state of the emulated driver, and what every exported function does first. One lock for all:
// callers of several threads take turns.
#ifndef GC_TEST_EMULATOR_DRIVER_DRIVER_H
#define GC_TEST_EMULATOR_DRIVER_DRIVER_H

#include "test/emulator/driver/Log.h"
#include "test/emulator/driver/Objects.h"

#include <mutex>

#define GC_EXPORT extern "C" __attribute__((visibility("default")))

namespace gc::emulator {

// All functions that are exported, declared so that a definition with other parameters is an error.
extern "C" {
#define GC_CALL(member, exported, parameters) CUresult exported parameters;
GC_CUDA_DRIVER_FUNCTIONS(GC_CALL)
#undef GC_CALL
}

// What a call asks for.
enum class Needs {
  Nothing,
  Initialised,
  Context,
  // A context, and it takes something back: done even if the context is broken or the call is made
  // to fail, so that a program that releases everything leaks nothing.
  Release,
};

class Driver {
public:
  static Driver &get();

  // Counts the call, answers for what must have happened before, fails it where that was asked for,
  // and runs `body(Driver &)` otherwise. Out of memory of the host becomes the driver's result.
  template <class Body> static CUresult enter(Call call, Needs needs, Body body);

  // Whether the present call is a launch whose result is to be wrong.
  bool isToBeWrong = false;
  // Of the present call.
  std::string origin() const;
  Device *current() const;
  // Null if there is none.
  Device *device(CUdevice ordinal) const;
  int attribute(CUdevice_attribute attribute) const;
  bool failing() const { return failed != CUDA_SUCCESS; }

  // Null and a message where the handle is not one of the current context.
  template <class Handle, class Value>
  std::shared_ptr<Value> find(const Table<Handle, Value> &table, Handle handle) const;

  // From now on everything fails with `result`, if it is of that kind.
  CUresult settle(CUresult result);

  // Invalidates the captures during which the present call is forbidden to this thread.
  CUresult refuseDuringCapture(bool evenRelaxed = false);

  // Its streams go on as usual; an event recorded in it counts as never recorded.
  void endCapture(std::shared_ptr<Capture> capture);
  void destroyContext(Device &device);
  // Lines about what was never released; `device` null: of any.
  std::vector<std::string> leaksOf(const Device *device) const;

  Settings settings;
  std::string wrongSettings;
  bool initialised = false;
  Queue queue;
  std::vector<std::unique_ptr<Device>> devices;
  std::array<uint64_t, callCount> counts{};
  Table<CUstream, Stream> streams;
  Table<CUevent, Event> events;
  Table<CUgraph, Graph> graphs;
  Table<CUgraphExec, GraphExec> executables;
  Table<CUmodule, Module> modules;
  Table<CUfunction, Function> functions;
  std::map<const std::byte *, std::shared_ptr<Pinned>> pinned;
  std::vector<std::shared_ptr<Capture>> captures;
  // Leaks of contexts that are gone.
  std::vector<std::string> abandoned;
  struct KernelStatistics {
    uint64_t launches = 0;
    ptx::Statistics sums;
  };
  std::map<std::string, KernelStatistics> statistics;
  std::mutex mutex;

private:
  Driver();
  CUresult admit(Call call, Needs needs);

  Call present = Call::cuInit;
  // What the present call fails with, whatever it does.
  CUresult failed = CUDA_SUCCESS;
  CUresult broken = CUDA_SUCCESS;
};

template <class Body> CUresult Driver::enter(Call call, Needs needs, Body body) {
  Driver &driver = get();
  std::lock_guard lock(driver.mutex);
  if (CUresult result = driver.admit(call, needs); result != CUDA_SUCCESS)
    return result;
  try {
    if (driver.failing() && needs != Needs::Release)
      return driver.failed;
    CUresult result = body(driver);
    return driver.failing() ? driver.failed : driver.settle(result);
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

template <class Handle, class Value>
std::shared_ptr<Value> Driver::find(const Table<Handle, Value> &table, Handle handle) const {
  auto value = table.find(handle);
  if (value && value->device == current())
    return value;
  report(std::string(callNames[size_t(present)]) + ": " +
         (value ? "the handle belongs to another context"
                : "not a handle of something that exists: " +
                      hexadecimal(reinterpret_cast<uintptr_t>(handle))));
  return nullptr;
}

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_DRIVER_H
