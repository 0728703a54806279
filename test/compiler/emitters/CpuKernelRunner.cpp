//===- CpuKernelRunner.cpp - Runs one gc op as kernels of the CPU ---------===//
#include "test/compiler/emitters/CpuKernelRunner.h"

#include "test/compiler/emitters/OpUnderTest.h"
#include "test/compiler/objectcode/LoadedKernels.h"
#include <cstring>
#include <gtest/gtest.h>

namespace gc::test {
namespace {

/// Buffers for one execution, with guards behind them.
struct Memory {
  std::vector<Buffer<uint8_t>> buffers;
  int add(const std::vector<uint8_t> &content) {
    buffers.emplace_back(content.size());
    std::copy(content.begin(), content.end(), buffers.back().data());
    return int(buffers.size()) - 1;
  }
};

/// Ways to split a dispatch's items into ranges; the bits must not depend on it.
enum class Split { Whole, ReversedSingles, Threes };

void execute(Kernel kernel, void *const *pointers, int64_t items, Split split) {
  switch (split) {
  case Split::Whole:
    return kernel(pointers, 0, items);
  case Split::ReversedSingles:
    for (int64_t i = items - 1; i >= 0; --i)
      kernel(pointers, i, i + 1);
    return;
  case Split::Threes:
    for (int64_t i = 0; i < items; i += 3)
      kernel(pointers, i, std::min(items, i + 3));
  }
}

} // namespace

/// With all items in one range, one item at a time in reverse order, and in ranges of 3.
Outcome run(const std::string &text, const std::vector<Tensor> &operands,
            const std::vector<Tensor> &variables, const std::vector<int> &aliases,
            const std::string &symbols, int64_t streamBytes) {
  Outcome outcome;
  OpUnderTest test(text, operands, symbols);
  mlir::Operation *op = test.op;
  if (!op)
    return outcome;
  cpu::LoopEmitter emitter(&test.context, streamBytes);
  EXPECT_TRUE(cpu::LoopEmitter::handles(op));
  int64_t scratchBytes = emitter.workspaceBytes(op);
  auto dispatches = emitter.emit(op, aliases);
  if (mlir::failed(dispatches)) {
    ADD_FAILURE() << test.messages;
    return outcome;
  }
  for (const cpu::KernelDispatch &dispatch : *dispatches)
    outcome.launches.emplace_back(dispatch.buffers.begin(), dispatch.buffers.end());
  // A second, equal op adds no kernel.
  unsigned distinct = emitter.size();
  auto again = emitter.emit(op, aliases);
  EXPECT_TRUE(mlir::succeeded(again));
  EXPECT_EQ(emitter.size(), distinct);
  auto library = emitter.finish({});
  if (mlir::failed(library)) {
    ADD_FAILURE() << test.messages;
    return outcome;
  }
  LoadedKernels kernels(*library);
  EXPECT_EQ(kernels.error(), "");

  std::vector<Tensor> empty = test.emptyResults();
  bool isFirst = true;
  for (Split split : {Split::Whole, Split::ReversedSingles, Split::Threes}) {
    Memory memory;
    memory.buffers.reserve(operands.size() + empty.size() + variables.size() + 1);
    std::vector<int> slots; // of operands, results, variables
    std::vector<int> resultSlots;
    for (const Tensor &result : empty)
      resultSlots.push_back(memory.add(result.bytes));
    for (size_t i = 0; i < operands.size(); ++i) {
      bool isShared = i < aliases.size() && aliases[i] >= 0;
      if (isShared)
        std::copy(operands[i].bytes.begin(), operands[i].bytes.end(),
                  memory.buffers[resultSlots[aliases[i]]].data());
      slots.push_back(isShared ? resultSlots[aliases[i]] : memory.add(operands[i].bytes));
    }
    slots.insert(slots.end(), resultSlots.begin(), resultSlots.end());
    for (const Tensor &variable : variables)
      slots.push_back(memory.add(variable.bytes));
    int scratch = memory.add(std::vector<uint8_t>(scratchBytes, 0xff));
    for (const cpu::KernelDispatch &dispatch : *dispatches) {
      std::vector<void *> pointers;
      for (int buffer : dispatch.buffers)
        pointers.push_back(memory.buffers[buffer < 0 ? scratch : slots[buffer]].data());
      EXPECT_GE(dispatch.grain, 1);
      Kernel kernel = kernels[library->symbols[dispatch.kernel]];
      if (!kernel) {
        ADD_FAILURE() << "no symbol " << library->symbols[dispatch.kernel];
        return outcome;
      }
      execute(kernel, pointers.data(), dispatch.items, split);
    }
    for (size_t i = 0; i < memory.buffers.size(); ++i)
      EXPECT_TRUE(memory.buffers[i].guardIsIntact()) << "wrote behind buffer " << i;
    for (size_t i = 0; i < operands.size(); ++i)
      if (i >= aliases.size() || aliases[i] < 0) {
        EXPECT_EQ(std::memcmp(memory.buffers[slots[i]].data(), operands[i].bytes.data(),
                              operands[i].bytes.size()),
                  0)
            << "wrote to operand " << i;
      }
    auto fetch = [&](int slot, const Tensor &like) {
      Tensor tensor(like.shape, like.element);
      std::memcpy(tensor.bytes.data(), memory.buffers[slot].data(), tensor.bytes.size());
      return tensor;
    };
    std::vector<Tensor> results, changed;
    for (size_t i = 0; i < empty.size(); ++i)
      results.push_back(fetch(resultSlots[i], empty[i]));
    for (size_t i = 0; i < variables.size(); ++i)
      changed.push_back(fetch(slots[operands.size() + empty.size() + i], variables[i]));
    if (isFirst) {
      outcome.results = results;
      outcome.variables = changed;
    } else {
      for (size_t i = 0; i < results.size(); ++i)
        EXPECT_EQ(results[i].bytes, outcome.results[i].bytes) << "bits depend on the split";
      for (size_t i = 0; i < changed.size(); ++i)
        EXPECT_EQ(changed[i].bytes, outcome.variables[i].bytes) << "bits depend on the split";
    }
    isFirst = false;
  }
  return outcome;
}

void runNamed(llvm::function_ref<cpu::KernelDispatch(cpu::LoopEmitter &)> emit,
              std::vector<Tensor> &tensors) {
  OpUnderTest test;
  cpu::LoopEmitter emitter(&test.context);
  cpu::KernelDispatch dispatch = emit(emitter);
  auto library = emitter.finish({});
  ASSERT_TRUE(mlir::succeeded(library)) << test.messages;
  LoadedKernels kernels(*library);
  Memory memory;
  memory.buffers.reserve(tensors.size());
  for (const Tensor &tensor : tensors)
    memory.add(tensor.bytes);
  std::vector<void *> pointers;
  for (int buffer : dispatch.buffers)
    pointers.push_back(memory.buffers[buffer].data());
  execute(kernels[library->symbols[dispatch.kernel]], pointers.data(), dispatch.items,
          Split::ReversedSingles);
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(memory.buffers[i].guardIsIntact()) << "wrote behind buffer " << i;
    std::memcpy(tensors[i].bytes.data(), memory.buffers[i].data(), tensors[i].bytes.size());
  }
}

} // namespace gc::test
