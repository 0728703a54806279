//===- JoinedUpdatesTest.cpp - Several updates in one launch --------------===//
#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/cuda/ptx/CompileToPtx.h"
#include "test/compiler/cuda/grids/InterpretedDevice.h"
#include "test/compiler/emitters/OpUnderTest.h"
#include <gtest/gtest.h>

namespace gc::test {
namespace {

/// Updates of variables of these sizes: less than a vector, no multiple of four, several blocks
/// with the last one full or not. All read one buffer of numbers.
const std::vector<int64_t> sizes = {3, 53, 1024, 1028, 3001, 4096, 64};

struct Updates {
  std::string text, symbols;
  std::vector<Tensor> operands;  // gradients, then the numbers
  std::vector<Tensor> variables; // of the first update, of the second, …
  size_t variablesEach = 0;

  Updates(const std::string &name, const std::string &attributes,
          const std::vector<std::string> &states) {
    Tensor numbers = Tensor::of({4}, {0.1f, 0.5f, 0.9f, 0.8f});
    std::string last = "%" + std::to_string(sizes.size());
    variablesEach = 1 + states.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      Tensor gradient = Tensor::random({sizes[i]}, int(10 * i));
      std::string number = std::to_string(i), type = gradient.type();
      text += "gc." + name + " @p" + number + (states.size() == 1 ? " velocity" : " moments");
      symbols += "gc.parameter @p" + number + " : " + type + " = #gc.init<constant, [0.0]>\n";
      variables.push_back(Tensor::random({sizes[i]}, int(10 * i + 1)));
      for (size_t s = 0; s < states.size(); ++s) {
        text += (s ? ", @" : " @") + states[s] + number;
        symbols += "gc.state @" + states[s] + number + " optimizer : " + type +
                   " = #gc.init<constant, [0.0]>\n";
        variables.push_back(Tensor::random({sizes[i]}, int(10 * i + 2 + s), 0.01f, 1));
      }
      text += ", %" + number + ", " + last + " " + attributes + " : (" + type + ", " +
              numbers.type() + ") -> ()\n";
      operands.push_back(gradient);
    }
    operands.push_back(numbers);
  }

  /// The variables afterwards; `joined` in one launch, else a launch for each update.
  std::vector<std::vector<uint8_t>> run(bool joined, bool backwards) const {
    OpUnderTest test(text, operands, symbols);
    if (!test.op)
      return {};
    llvm::SmallVector<UpdateOpInterface> ops;
    for (mlir::Operation &op : *test.op->getBlock())
      if (auto update = mlir::dyn_cast<UpdateOpInterface>(op))
        ops.push_back(update);
    EXPECT_EQ(ops.size(), sizes.size());

    InterpretedDevice device;
    std::vector<int> operandSlots, variableSlots;
    for (const Tensor &operand : operands)
      operandSlots.push_back(device.add(operand.bytes, true));
    for (const Tensor &variable : variables)
      variableSlots.push_back(device.add(variable.bytes, false));
    llvm::SmallVector<llvm::SmallVector<int>> buffers; // of each update
    for (size_t i = 0; i < ops.size(); ++i) {
      buffers.push_back({operandSlots[i], operandSlots.back()});
      for (size_t v = 0; v < variablesEach; ++v)
        buffers.back().push_back(variableSlots[i * variablesEach + v]);
    }

    cuda::GridEmitter emitter(&test.context, cuda::gridDeviceOf(*cuda::findDeviceModel("sm_80")));
    llvm::SmallVector<cuda::KernelLaunch> launches;
    if (joined) {
      auto one = emitter.emitUpdates(ops, buffers);
      if (mlir::failed(one)) {
        ADD_FAILURE() << test.messages;
        return {};
      }
      launches.push_back(*one);
    }
    for (size_t i = 0; !joined && i < ops.size(); ++i) {
      auto own = emitter.emit(ops[i]);
      if (mlir::failed(own) || own->size() != 1) {
        ADD_FAILURE() << "an update has one launch\n" << test.messages;
        return {};
      }
      for (int &buffer : own->front().buffers)
        buffer = buffers[i][buffer];
      launches.push_back(own->front());
    }
    if (joined) {
      // The numbers are given once, and variables alone change.
      EXPECT_EQ(launches[0].buffers.size(), operands.size() + variables.size());
      for (auto [buffer, access] : llvm::zip_equal(launches[0].buffers, launches[0].access)) {
        EXPECT_EQ(access.writes, llvm::is_contained(variableSlots, buffer));
        EXPECT_TRUE(access.reads);
      }
    }
    cuda::CodegenOptions options;
    options.device = cuda::findDeviceModel("sm_80");
    options.assemble = false;
    auto images = cuda::compileKernels(emitter.module(), options);
    if (mlir::failed(images)) {
      ADD_FAILURE() << test.messages;
      return {};
    }
    for (const cuda::KernelImage &image : images->images)
      EXPECT_EQ(device.load(image.ptx), "");
    for (const cuda::KernelLaunch &launch : launches) {
      emulator::ptx::Launch how;
      how.grid = {uint32_t(launch.grid.x), 1, 1};
      how.block = {uint32_t(launch.block.x), 1, 1};
      how.lastBlockFirst = backwards;
      EXPECT_EQ(device.run(images->resources[launch.kernel].name, how,
                           {launch.buffers.begin(), launch.buffers.end()}),
                "");
    }
    std::vector<std::vector<uint8_t>> result;
    for (int slot : variableSlots)
      result.push_back(device.fetch(slot).value_or(std::vector<uint8_t>()));
    return result;
  }
};

void expectSameBits(const Updates &updates) {
  auto apart = updates.run(/*joined=*/false, /*backwards=*/false);
  ASSERT_EQ(apart.size(), updates.variables.size());
  for (size_t i = 0; i < apart.size(); ++i)
    EXPECT_NE(apart[i], updates.variables[i].bytes) << "variable " << i << " has not changed";
  for (bool backwards : {false, true})
    EXPECT_EQ(updates.run(/*joined=*/true, backwards), apart);
}

TEST(JoinedUpdatesTest, SgdHasTheBitsOfSeparateLaunches) {
  expectSameBits(Updates("sgd", "{momentum = 0.9 : f32, weight_decay = 0.01 : f32}", {"v"}));
}

TEST(JoinedUpdatesTest, AdamHasTheBitsOfSeparateLaunches) {
  for (const char *name : {"adam", "adamw"})
    expectSameBits(Updates(name,
                           "{beta1 = 0.9 : f32, beta2 = 0.999 : f32, "
                           "epsilon = 1.0e-8 : f32, weight_decay = 0.1 : f32}",
                           {"m", "v"}));
}

// Nothing of this size is ever made: the types alone are so large, 1 TiB each, as large as they may
// be. A thread has four elements, a block 256 threads.
TEST(JoinedUpdatesTest, RefusesMoreBlocksThanCudaLaunches) {
  Tensor huge;
  huge.shape = {256, int64_t(1) << 30};
  std::string text, symbols;
  llvm::SmallVector<llvm::SmallVector<int>> buffers;
  for (int i = 0; i < 8; ++i) {
    buffers.push_back({i});
    std::string number = std::to_string(i);
    text += "gc.clear @p" + number + " : " + huge.type() + "\n";
    symbols += "gc.parameter @p" + number + " : " + huge.type() + " = #gc.init<constant, [0.0]>\n";
  }
  OpUnderTest test(text, {}, symbols);
  ASSERT_TRUE(test.op) << test.messages;
  llvm::SmallVector<UpdateOpInterface> ops;
  for (mlir::Operation &op : *test.op->getBlock())
    if (auto update = mlir::dyn_cast<UpdateOpInterface>(op))
      ops.push_back(update);
  ASSERT_EQ(ops.size(), buffers.size());
  cuda::GridEmitter emitter(&test.context, cuda::gridDeviceOf(*cuda::findDeviceModel("sm_80")));
  EXPECT_TRUE(mlir::failed(emitter.emitUpdates(ops, buffers)));
  EXPECT_NE(test.messages.find("needs a grid of 2147483648 x 1 x 1 blocks, and CUDA launches at "
                               "most 2147483647 x 65535 x 65535; use more micro-batches"),
            std::string::npos)
      << test.messages;
  ops.pop_back();
  buffers.pop_back();
  EXPECT_TRUE(mlir::succeeded(emitter.emitUpdates(ops, buffers))) << test.messages;
}

} // namespace
} // namespace gc::test
