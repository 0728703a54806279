//===- TestTensors.cpp - Tensors of the kernels' tests --------------------===//
#include "test/compiler/emitters/KernelRunner.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace gc::test {

static int64_t elementBytes(const std::string &element) {
  if (element == "i8")
    return 1;
  if (element == "i64")
    return 8;
  return 4;
}

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
