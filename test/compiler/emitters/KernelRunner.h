//===- KernelRunner.h - Runs one gc op through its generated kernels ------===//
//
// What the tests of kernels are written with. Every target implements `run`, so that the same tests
// run on all of them.
//
//===----------------------------------------------------------------------===//
#ifndef GC_TEST_COMPILER_EMITTERS_KERNELRUNNER_H
#define GC_TEST_COMPILER_EMITTERS_KERNELRUNNER_H

#include <cstdint>
#include <string>
#include <vector>

namespace gc::test {

/// A tensor of any element type; most are f32.
struct Tensor {
  std::vector<int64_t> shape;
  std::string element = "f32";
  std::vector<uint8_t> bytes;

  Tensor() = default;
  Tensor(std::vector<int64_t> shape, std::string element = "f32");
  static Tensor of(std::vector<int64_t> shape, const std::vector<float> &values);
  static Tensor ofInt32(std::vector<int64_t> shape, const std::vector<int32_t> &values);
  static Tensor ofInt64(std::vector<int64_t> shape, const std::vector<int64_t> &values);
  /// Uniform in [low, high), the same for the same seed.
  static Tensor random(std::vector<int64_t> shape, unsigned seed, float low = -1, float high = 1);

  int64_t size() const;
  std::string type() const; // "tensor<2x3xf32>"
  template <typename T = float> T *data() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T = float> const T *data() const {
    return reinterpret_cast<const T *>(bytes.data());
  }
  float operator[](int64_t i) const { return data()[i]; }
  float &operator[](int64_t i) { return data()[i]; }
};

struct Outcome {
  std::vector<Tensor> results;
  std::vector<Tensor> variables;          // as the op left them
  std::vector<std::vector<int>> launches; // the buffers that each kernel is given
};

/// Compiles the op in `text` for the target that the test is linked with, and runs it. `text` is
/// written like "gc.relu %0 : (tensor<…>) -> …"; operand i is %i. Runs it several times, with what
/// is independent in different orders and with scratch and results that hold nothing; the bits must
/// agree. Access outside a buffer, and writing to an operand that shares no result's bytes, fails
/// the test. `aliases` is as for LoopEmitter::emit; `streamBytes` is the CPU's.
Outcome run(const std::string &text, const std::vector<Tensor> &operands,
            const std::vector<Tensor> &variables = {}, const std::vector<int> &aliases = {},
            const std::string &symbols = "", int64_t streamBytes = int64_t(32) << 20);

/// Fails the test unless |actual - expected| <= tolerance * max(1, |expected|) everywhere.
void expectClose(const Tensor &actual, const std::vector<double> &expected, double tolerance,
                 const std::string &what = "");

/// How far a sum of `terms` random numbers of mean 0 may be off: it is added up in blocks of
/// `block` terms, whose sums are then added up. A rounding error has a deviation of 3.5e-8 of the
/// partial sum, a partial sum of i terms one of sqrt(i) * `deviation`. Five deviations, as many
/// sums are compared; errors of the terms themselves come on top.
double sumTolerance(double terms, double deviation, double block = 64);

/// "tensor<2x3xf32>"
std::string typeOf(const std::vector<int64_t> &shape, const std::string &element = "f32");
/// " : (types of operands) -> types" for the end of an op.
std::string signature(const std::vector<Tensor> &operands, const std::vector<std::string> &results);

} // namespace gc::test

#endif // GC_TEST_COMPILER_EMITTERS_KERNELRUNNER_H
