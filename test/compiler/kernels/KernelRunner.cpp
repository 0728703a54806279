//===- KernelRunner.cpp - Runs one gc op through its generated kernels ----===//
#include "test/compiler/kernels/KernelRunner.h"

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/codegen/LoadedKernels.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace gc::test {
namespace {

int64_t elementBytes(const std::string &element) {
  if (element == "i8")
    return 1;
  if (element == "i64")
    return 8;
  return 4;
}

struct Compiled {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string messages;
  Compiled() {
    mlir::DialectRegistry registry;
    registerGcDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  }
};

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

Tensor::Tensor(std::vector<int64_t> shape, std::string element)
    : shape(std::move(shape)), element(std::move(element)) {
  bytes.resize(size() * elementBytes(this->element));
}
int64_t Tensor::size() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}
Tensor Tensor::of(std::vector<int64_t> shape, const std::vector<float> &values) {
  Tensor tensor(std::move(shape));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}
Tensor Tensor::ofInt32(std::vector<int64_t> shape, const std::vector<int32_t> &values) {
  Tensor tensor(std::move(shape), "i32");
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}
Tensor Tensor::ofInt64(std::vector<int64_t> shape, const std::vector<int64_t> &values) {
  Tensor tensor(std::move(shape), "i64");
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}
Tensor Tensor::random(std::vector<int64_t> shape, unsigned seed, float low, float high) {
  Tensor tensor(std::move(shape));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor[i] = uniform(generator);
  return tensor;
}
std::string typeOf(const std::vector<int64_t> &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}
std::string Tensor::type() const { return typeOf(shape, element); }

std::string signature(const std::vector<Tensor> &operands,
                      const std::vector<std::string> &results) {
  std::string text = " : (";
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i ? ", " : "") + operands[i].type();
  text += ") -> (";
  for (size_t i = 0; i < results.size(); ++i)
    text += (i ? ", " : "") + results[i];
  return text + ")";
}

Outcome run(const std::string &text, const std::vector<Tensor> &operands,
            const std::vector<Tensor> &variables, const std::vector<int> &aliases,
            const std::string &symbols, int64_t streamBytes) {
  Outcome outcome;
  Compiled compiled;
  // The op stands in a function whose arguments are its operands.
  std::string body = text;
  std::string function = symbols + "\nfunc.func @f(";
  for (size_t i = 0; i < operands.size(); ++i) {
    function += (i ? ", %a" : "%a") + std::to_string(i) + ": " + operands[i].type();
    std::string from = "%" + std::to_string(i), to = "%a" + std::to_string(i);
    for (size_t at = body.find(from); at != std::string::npos; at = body.find(from, at + to.size()))
      body.replace(at, from.size(), to);
  }
  function += ") {\n" + body + "\nreturn\n}";
  compiled.module = mlir::parseSourceString<mlir::ModuleOp>(function, &compiled.context);
  if (!compiled.module) {
    ADD_FAILURE() << "cannot parse: " << function << "\n" << compiled.messages;
    return outcome;
  }
  mlir::Operation *op = nullptr;
  compiled.module->walk([&](mlir::func::FuncOp f) { op = &f.getBody().front().front(); });
  cpu::KernelEmitter emitter(&compiled.context, streamBytes);
  EXPECT_TRUE(cpu::KernelEmitter::handles(op));
  int64_t scratchBytes = emitter.workspaceBytes(op);
  auto dispatches = emitter.emit(op, aliases);
  if (mlir::failed(dispatches)) {
    ADD_FAILURE() << compiled.messages;
    return outcome;
  }
  outcome.dispatches.assign(dispatches->begin(), dispatches->end());
  // A second, equal op adds no kernel.
  unsigned distinct = emitter.size();
  auto again = emitter.emit(op, aliases);
  EXPECT_TRUE(mlir::succeeded(again));
  EXPECT_EQ(emitter.size(), distinct);
  auto library = emitter.finish({});
  if (mlir::failed(library)) {
    ADD_FAILURE() << compiled.messages;
    return outcome;
  }
  LoadedKernels kernels(*library);
  EXPECT_EQ(kernels.error(), "");

  std::vector<Tensor> empty;
  for (mlir::Type type : op->getResultTypes()) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    std::string element = tensor.getElementType().isF32()
                              ? "f32"
                              : "i" + std::to_string(tensor.getElementTypeBitWidth());
    empty.emplace_back(tensor.getShape().vec(), element);
    std::fill(empty.back().bytes.begin(), empty.back().bytes.end(), 0xff); // NaN, -1
  }
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
      if (i >= aliases.size() || aliases[i] < 0)
        EXPECT_EQ(std::memcmp(memory.buffers[slots[i]].data(), operands[i].bytes.data(),
                              operands[i].bytes.size()),
                  0)
            << "wrote to operand " << i;
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

void runNamed(llvm::function_ref<cpu::KernelDispatch(cpu::KernelEmitter &)> emit,
              std::vector<Tensor> &tensors) {
  Compiled compiled;
  cpu::KernelEmitter emitter(&compiled.context);
  cpu::KernelDispatch dispatch = emit(emitter);
  auto library = emitter.finish({});
  ASSERT_TRUE(mlir::succeeded(library)) << compiled.messages;
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

double sumTolerance(double terms, double deviation, double block) {
  double blocks = std::ceil(terms / block);
  double inside = std::min(terms, block);
  double variance = blocks * inside * inside / 2 + inside * blocks * blocks / 2;
  return 5 * 3.5e-8 * deviation * std::sqrt(variance) + 1e-6;
}

void expectClose(const Tensor &actual, const std::vector<double> &expected, double tolerance,
                 const std::string &what) {
  ASSERT_EQ(size_t(actual.size()), expected.size()) << what;
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double error = std::fabs(actual[i] - expected[i]) / std::max(1.0, std::fabs(expected[i]));
    if (!(error <= worst)) // NaN is the worst
      worst = error, at = i;
  }
  EXPECT_LE(worst, tolerance) << what << " element " << at << ": " << actual[at] << ", expected "
                              << expected[at];
}

} // namespace gc::test
