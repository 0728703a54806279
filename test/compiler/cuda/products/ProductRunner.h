//===- ProductRunner.h - Runs generated CUDA kernels in the interpreter ---===//
#ifndef GC_TEST_COMPILER_CUDA_PRODUCTS_PRODUCTRUNNER_H
#define GC_TEST_COMPILER_CUDA_PRODUCTS_PRODUCTRUNNER_H

#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/cuda/ptx/CompileToPtx.h"
#include "test/emulator/ptx/Ptx.h"
#include <functional>
#include <string>
#include <vector>

namespace gc::test {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;

  explicit Tensor(std::vector<int64_t> shape);
  /// Uniform in [-1, 1), the same for the same seed.
  static Tensor random(std::vector<int64_t> shape, unsigned seed);
  std::string type() const; // "tensor<2x3xf32>"
  float &operator[](int64_t i) { return values[i]; }
  float operator[](int64_t i) const { return values[i]; }
};

/// A sum as it should be, and what bounds its rounding errors: the sum of the magnitudes of its
/// terms, and how many roundings a term goes through.
struct Expected {
  double value = 0, magnitude = 0;
  int64_t roundings = 0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
    ++roundings;
  }
};
/// What a product of two operands rounded to TF32 (10 bits of mantissa, to the nearest) is off by,
/// relative to itself.
constexpr double tf32Error = 0x1p-10 + 0x1p-22;

/// Fails the test unless every element is within its bound. `termError`: of each term, relative.
void expectSums(const std::vector<float> &actual, const std::vector<Expected> &expected,
                const std::string &what, double termError = 0);

struct Outcome {
  /// Of every buffer: operands, then results, then variables.
  std::vector<Tensor> buffers;
  std::vector<cuda::KernelLaunch> launches;
  std::vector<emulator::ptx::Statistics> statistics; // one a launch
  int64_t workspaceBytes = 0;

  emulator::ptx::Statistics total() const;
};

/// One that has all that we use.
const cuda::DeviceModel &testDevice();

/// Builds kernels for a device, runs them twice and compares the bits. Buffers in `given` are
/// initialised, those that follow it (`results`, by shape) are not, nor is the workspace: reading
/// them is a fault. Failures of any kind fail the test. `tf32` as in GridDevice.
Outcome runKernels(const std::vector<Tensor> &given,
                   const std::vector<std::vector<int64_t>> &results,
                   const std::function<void(cuda::GpuKernels &)> &build,
                   const cuda::DeviceModel &device = testDevice(), bool tf32 = false);

/// Runs the op in `text`, which is written like "gc.relu %a0 : (tensor<…>) -> …". Its variables
/// stand in `symbols`. `aliases` is as for GridEmitter::emit.
Outcome runOp(const std::string &text, const std::vector<Tensor> &operands,
              const std::vector<Tensor> &variables = {}, const std::vector<int> &aliases = {},
              const std::string &symbols = "", bool tf32 = false);

/// Assembles the op's kernels for every device model (with `tf32`: from sm_80 on); spills fail the
/// test. Returns on how many it could; none without an assembler.
size_t assembleOp(const std::string &text, const std::vector<std::vector<int64_t>> &operands,
                  const std::string &symbols = "", bool tf32 = false);

/// "tensor<2x3xf32>"
std::string typeOf(const std::vector<int64_t> &shape);

} // namespace gc::test

#endif
