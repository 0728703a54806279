//===- ProductRunner.cpp - Runs generated CUDA kernels in the interpreter -===//
#include "test/compiler/cuda/products/ProductRunner.h"

#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/cuda/ptx/AssemblePtx.h"
#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/emulator/ptx/TestDevice.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace gc::test {

using emulator::ptx::Statistics;

Tensor::Tensor(std::vector<int64_t> shape) : shape(std::move(shape)) {
  values.resize(
      std::accumulate(this->shape.begin(), this->shape.end(), int64_t(1), std::multiplies<>()));
}
Tensor Tensor::random(std::vector<int64_t> shape, unsigned seed) {
  Tensor tensor(std::move(shape));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float &value : tensor.values)
    value = uniform(generator);
  return tensor;
}
std::string typeOf(const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}
std::string Tensor::type() const { return typeOf(shape); }

void expectSums(const std::vector<float> &actual, const std::vector<Expected> &expected,
                const std::string &what, double termError) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  constexpr double unit = 0x1p-24;
  size_t wrong = 0, worst = 0;
  double excess = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const Expected &e = expected[i];
    double bound = (termError + unit * double(e.roundings + 4)) * e.magnitude;
    double error = std::abs(actual[i] - e.value);
    if (error <= bound)
      continue;
    ++wrong;
    if (!(error / bound <= excess))
      excess = error / bound, worst = i;
  }
  EXPECT_EQ(wrong, 0u) << what << ": of " << actual.size() << " elements, worst " << worst << ": "
                       << actual[worst] << ", expected " << expected[worst].value << " (off by "
                       << excess << " times the bound)";
}

Statistics Outcome::total() const {
  Statistics sum;
  for (const Statistics &s : statistics) {
    sum.instructions += s.instructions;
    sum.warpInstructions += s.warpInstructions;
    sum.sharedAccesses += s.sharedAccesses;
    sum.sharedBankConflicts += s.sharedBankConflicts;
    sum.globalAccesses += s.globalAccesses;
    sum.globalTransactions += s.globalTransactions;
    sum.globalBytes += s.globalBytes;
  }
  return sum;
}

namespace {

/// A context whose messages can be shown.
struct Session {
  mlir::MLIRContext context;
  std::string messages;
  Session() {
    mlir::DialectRegistry registry;
    registerGcDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    cuda::registerKernelDialects(context);
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  }
};

/// The op of `text` in a function whose arguments %a0, %a1, … are its operands.
mlir::OwningOpRef<mlir::ModuleOp> parseOp(Session &session, const std::string &text,
                                          const std::vector<std::vector<int64_t>> &operands,
                                          const std::string &symbols, mlir::Operation *&op) {
  std::string function = symbols + "\nfunc.func @f(";
  for (size_t i = 0; i < operands.size(); ++i)
    function += (i ? ", %a" : "%a") + std::to_string(i) + ": " + typeOf(operands[i]);
  function += ") {\n" + text + "\nreturn\n}";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(function, &session.context);
  if (module)
    module->walk([&](mlir::func::FuncOp f) { op = &f.getBody().front().front(); });
  else
    ADD_FAILURE() << "cannot parse: " << function << "\n" << session.messages;
  return module;
}

/// Runs launches on buffers in the device's memory; one that is not initialised is empty.
void execute(Outcome &outcome, const cuda::KernelImages &images, const std::vector<Tensor> &buffers,
             size_t initialised, const std::vector<int> &storage) {
  for (int repetition = 0; repetition < 2; ++repetition) {
    emulator::ptx::TestMemory memory;
    std::vector<uint64_t> addresses;
    for (size_t i = 0; i < buffers.size(); ++i) {
      size_t bytes = buffers[i].values.size() * sizeof(float);
      // One that shares another's bytes: the other one comes first.
      addresses.push_back(storage[i] >= 0 ? addresses[storage[i]] : memory.allocate(bytes, 256));
      if (i < initialised)
        std::memcpy(memory.access(addresses[i], bytes, emulator::ptx::AccessKind::Write),
                    buffers[i].values.data(), bytes);
    }
    uint64_t workspace = memory.allocate(outcome.workspaceBytes, 256);
    std::vector<std::unique_ptr<emulator::ptx::Module>> modules;
    for (const cuda::KernelImage &image : images.images)
      modules.push_back(emulator::ptx::Module::parse(image.ptx, memory));
    for (const cuda::KernelLaunch &launch : outcome.launches) {
      const std::string &name = images.resources[launch.kernel].name;
      std::vector<uint64_t> pointers;
      for (int buffer : launch.buffers)
        pointers.push_back(buffer < 0 ? workspace : addresses[buffer]);
      auto extent = [](const cuda::Extent &e) {
        return emulator::ptx::Dim3{uint32_t(e.x), uint32_t(e.y), uint32_t(e.z)};
      };
      Statistics statistics;
      for (const auto &module : modules)
        if (module->find(name))
          emulator::ptx::run(*module, name,
                             {.grid = extent(launch.grid),
                              .block = extent(launch.block),
                              .parameters = std::as_bytes(std::span(pointers))},
                             memory, repetition == 0 ? &statistics : nullptr);
      if (repetition == 0)
        outcome.statistics.push_back(statistics);
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      auto values = memory.download<float>(addresses[i], buffers[i].values.size());
      if (repetition == 0) {
        outcome.buffers.push_back(buffers[i]);
        outcome.buffers.back().values = values;
      } else {
        EXPECT_EQ(std::memcmp(values.data(), outcome.buffers[i].values.data(), values.size() * 4),
                  0)
            << "two runs differ in buffer " << i;
      }
    }
  }
}

/// Compiles for a device, and runs.
void compileAndRun(Outcome &outcome, Session &session, mlir::ModuleOp kernels,
                   const std::vector<Tensor> &buffers, size_t initialised,
                   const std::vector<int> &storage, const cuda::DeviceModel &device) {
  auto images = cuda::compileKernels(kernels, {.device = &device, .assemble = false});
  if (mlir::failed(images)) {
    ADD_FAILURE() << session.messages;
    return;
  }
  try {
    execute(outcome, *images, buffers, initialised, storage);
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what();
    outcome.buffers = buffers;
  }
}

} // namespace

const cuda::DeviceModel &testDevice() { return *cuda::findDeviceModel("sm_80"); }

Outcome runKernels(const std::vector<Tensor> &given,
                   const std::vector<std::vector<int64_t>> &results,
                   const std::function<void(cuda::GpuKernels &)> &build,
                   const cuda::DeviceModel &device, bool tf32) {
  Session session;
  Outcome outcome;
  mlir::OpBuilder builder(&session.context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  cuda::KernelModule built(cuda::gridDeviceOf(device, tf32));
  built.module = *module;
  built.kernels = mlir::gpu::GPUModuleOp::create(builder, builder.getUnknownLoc(), "kernels");
  cuda::GpuKernels kernels(&session.context, "test", built);
  build(kernels);
  outcome.launches.assign(kernels.launches.begin(), kernels.launches.end());
  outcome.workspaceBytes = kernels.workspaceBytes;
  std::vector<Tensor> buffers = given;
  for (const auto &shape : results)
    buffers.emplace_back(shape);
  compileAndRun(outcome, session, *module, buffers, given.size(),
                std::vector<int>(buffers.size(), -1), device);
  return outcome;
}

Outcome runOp(const std::string &text, const std::vector<Tensor> &operands,
              const std::vector<Tensor> &variables, const std::vector<int> &aliases,
              const std::string &symbols, bool tf32) {
  Session session;
  Outcome outcome;
  std::vector<std::vector<int64_t>> shapes;
  for (const Tensor &operand : operands)
    shapes.push_back(operand.shape);
  mlir::Operation *op = nullptr;
  auto module = parseOp(session, text, shapes, symbols, op);
  if (!module)
    return outcome;
  cuda::GridEmitter emitter(&session.context, cuda::gridDeviceOf(testDevice(), tf32));
  auto bytes = emitter.workspaceBytes(op);
  auto launches = emitter.emit(op, aliases);
  if (mlir::failed(bytes) || mlir::failed(launches)) {
    ADD_FAILURE() << session.messages;
    return outcome;
  }
  outcome.workspaceBytes = *bytes;
  outcome.launches.assign(launches->begin(), launches->end());

  // Operands and variables are initialised, results are not; as memory wants the former first, the
  // launches' numbers are changed to that order.
  std::vector<Tensor> buffers = operands;
  buffers.insert(buffers.end(), variables.begin(), variables.end());
  size_t results = op->getNumResults(), initialised = buffers.size();
  for (mlir::Type type : op->getResultTypes())
    buffers.emplace_back(mlir::cast<mlir::RankedTensorType>(type).getShape().vec());
  auto moved = [&](int buffer) {
    if (buffer < int(operands.size()))
      return buffer;
    int result = buffer - int(operands.size());
    return result < int(results) ? int(initialised) + result
                                 : int(operands.size()) + result - int(results);
  };
  for (cuda::KernelLaunch &launch : outcome.launches)
    for (int &buffer : launch.buffers)
      buffer = moved(buffer);
  std::vector<int> storage(buffers.size(), -1);
  for (size_t i = 0; i < aliases.size(); ++i)
    if (aliases[i] >= 0)
      storage[initialised + aliases[i]] = int(i);
  compileAndRun(outcome, session, emitter.module(), buffers, initialised, storage, testDevice());
  // Nothing but variables and what shares a result's bytes has changed.
  for (size_t i = 0; i < operands.size(); ++i)
    if (i >= aliases.size() || aliases[i] < 0) {
      EXPECT_EQ(operands[i].values, outcome.buffers[i].values) << "wrote to operand " << i;
    }
  std::rotate(outcome.buffers.begin() + operands.size(), outcome.buffers.begin() + initialised,
              outcome.buffers.end());
  return outcome;
}

size_t assembleOp(const std::string &text, const std::vector<std::vector<int64_t>> &operands,
                  const std::string &symbols, bool tf32) {
  if (cuda::Assembler::find().path.empty())
    return 0;
  Session session;
  mlir::Operation *op = nullptr;
  auto module = parseOp(session, text, operands, symbols, op);
  if (!module)
    return 0;
  size_t count = 0;
  for (const cuda::DeviceModel &device : cuda::deviceModels()) {
    if (tf32 && device.version < 80)
      continue;
    cuda::GridEmitter emitter(&session.context, cuda::gridDeviceOf(device, tf32));
    if (mlir::failed(emitter.emit(op))) {
      ADD_FAILURE() << session.messages;
      return count;
    }
    auto images = cuda::compileKernels(emitter.module(), {.device = &device});
    if (mlir::failed(images)) {
      ADD_FAILURE() << device.target << ": " << session.messages;
      continue;
    }
    bool hasMma = llvm::any_of(images->images, [](const cuda::KernelImage &image) {
      return image.ptx.find("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32") !=
             std::string::npos;
    });
    EXPECT_EQ(hasMma, tf32) << device.target;
    for (const cuda::KernelResources &kernel : images->resources)
      EXPECT_EQ(kernel.spillBytes + kernel.stackBytes, 0) << device.target << " " << kernel.name;
    ++count;
  }
  return count;
}

} // namespace gc::test
