//===- GpuKernelRunner.cpp - Runs one gc op as CUDA kernels ---------------===//
#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/cuda/ptx/CompileToPtx.h"
#include "test/compiler/cuda/grids/InterpretedDevice.h"
#include "test/compiler/emitters/OpUnderTest.h"
#include <gtest/gtest.h>

namespace gc::test {
namespace {

emulator::ptx::Dim3 extent(const cuda::Extent &size) {
  return {uint32_t(size.x), uint32_t(size.y), uint32_t(size.z)};
}

} // namespace

/// With blocks in order, and backwards.
Outcome run(const std::string &text, const std::vector<Tensor> &operands,
            const std::vector<Tensor> &variables, const std::vector<int> &aliases,
            const std::string &symbols, int64_t) {
  Outcome outcome;
  OpUnderTest test(text, operands, symbols);
  if (!test.op)
    return outcome;
  // What a failed run leaves; tests look at it before they end.
  outcome.results = test.emptyResults();
  outcome.variables = variables;
  auto fail = [&](const std::string &message) {
    ADD_FAILURE() << text << "\n" << message << "\n" << test.messages;
    return outcome;
  };
  const cuda::DeviceModel *model = cuda::findDeviceModel("sm_80");
  cuda::GridEmitter emitter(&test.context, cuda::gridDeviceOf(*model));
  mlir::FailureOr<int64_t> scratchBytes = emitter.workspaceBytes(test.op);
  auto launches = emitter.emit(test.op, aliases);
  if (mlir::failed(scratchBytes) || mlir::failed(launches))
    return fail("cannot be emitted");
  for (const cuda::KernelLaunch &launch : *launches)
    outcome.launches.emplace_back(launch.buffers.begin(), launch.buffers.end());
  // A second, equal op adds no kernel.
  unsigned distinct = emitter.size();
  EXPECT_TRUE(mlir::succeeded(emitter.emit(test.op, aliases)));
  EXPECT_EQ(emitter.size(), distinct);
  cuda::CodegenOptions options;
  options.device = model;
  options.assemble = false;
  auto images = cuda::compileKernels(emitter.module(), options);
  if (mlir::failed(images))
    return fail("cannot be compiled");

  const std::vector<Tensor> empty = outcome.results;
  for (bool backwards : {false, true}) {
    InterpretedDevice device;
    std::vector<int> slots, resultSlots; // slots: of operands, results, variables
    for (const Tensor &result : empty)
      resultSlots.push_back(device.add(result.bytes.size()));
    for (size_t i = 0; i < operands.size(); ++i) {
      bool isShared = i < aliases.size() && aliases[i] >= 0;
      if (isShared)
        device.fill(resultSlots[aliases[i]], operands[i].bytes);
      slots.push_back(isShared ? resultSlots[aliases[i]] : device.add(operands[i].bytes, true));
    }
    slots.insert(slots.end(), resultSlots.begin(), resultSlots.end());
    for (const Tensor &variable : variables)
      slots.push_back(device.add(variable.bytes, false));
    int scratch = device.add(*scratchBytes);
    for (const cuda::KernelImage &image : images->images)
      if (std::string error = device.load(image.ptx); !error.empty())
        return fail(error);
    for (const cuda::KernelLaunch &launch : *launches) {
      const cuda::KernelResources &kernel = images->resources[launch.kernel];
      std::vector<int> buffers;
      for (int buffer : launch.buffers)
        buffers.push_back(buffer < 0 ? scratch : slots[buffer]);
      emulator::ptx::Launch how;
      how.grid = extent(launch.grid);
      how.block = extent(launch.block);
      how.dynamicSharedBytes = uint32_t(kernel.dynamicSharedBytes);
      how.lastBlockFirst = backwards;
      emulator::ptx::Statistics statistics;
      std::string error = device.run(kernel.name, how, buffers, backwards ? nullptr : &statistics);
      if (!error.empty())
        return fail(error);
      EXPECT_EQ(statistics.sharedBankConflicts, 0u) << text << "\n" << kernel.name;
    }
    auto fetch = [&](int slot, Tensor like) {
      if (auto bytes = device.fetch(slot))
        like.bytes = *bytes;
      else
        ADD_FAILURE() << text << "\nleaves bytes of " << like.type() << " unwritten";
      return like;
    };
    std::vector<Tensor> results, changed;
    for (size_t i = 0; i < empty.size(); ++i)
      results.push_back(fetch(resultSlots[i], empty[i]));
    for (size_t i = 0; i < variables.size(); ++i)
      changed.push_back(fetch(slots[operands.size() + empty.size() + i], variables[i]));
    if (!backwards) {
      outcome.results = results;
      outcome.variables = changed;
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(results[i].bytes, outcome.results[i].bytes) << "bits depend on the order of blocks";
    for (size_t i = 0; i < changed.size(); ++i)
      EXPECT_EQ(changed[i].bytes, outcome.variables[i].bytes)
          << "bits depend on the order of blocks";
  }
  return outcome;
}

} // namespace gc::test
