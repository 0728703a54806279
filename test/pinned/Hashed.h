// Weights and batches from a formula that PyTorch's side computes too; see tools/compare/README.md.
#ifndef GC_TEST_PINNED_HASHED_H
#define GC_TEST_PINNED_HASHED_H

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gc::test {

/// What a pinned file says about the distributions.
struct HashedOptions {
  uint64_t seed = 1;
  std::string residualNorm{}; // the last norm of a residual block ends in this
  double residualFactor = 1;
  double normBias = 0;
};

class Hashed {
public:
  /// `names` are those of all tensors of the network.
  Hashed(HashedOptions options, std::set<std::string> names)
      : seed(options.seed), options(std::move(options)), names(std::move(names)) {}

  uint64_t bits(const std::string &name, uint64_t i) const {
    return splitmix64(fnv1a(std::to_string(seed) + ":" + name) + i) >> 40;
  }
  /// The tensor's uniform numbers in [-1, 1), by element.
  auto uniform(const std::string &name) const {
    return [first = start(name)](uint64_t i) { return at(first, i); };
  }

  std::vector<float> weights(const std::string &name, const std::vector<int64_t> &shape) const {
    auto [offset, scale] = distribution(name, shape);
    return fill(name, shape, offset, scale);
  }
  std::vector<float> image(const std::vector<int64_t> &shape) const {
    return fill("image", shape, 0, 1);
  }
  std::vector<int64_t> labels(int64_t count, int64_t classes) const {
    std::vector<int64_t> labels(count);
    for (int64_t i = 0; i < count; ++i)
      labels[i] = static_cast<int64_t>(bits("label", i) % classes);
    return labels;
  }

private:
  static uint64_t fnv1a(const std::string &text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char byte : text)
      hash = (hash ^ byte) * 0x100000001b3;
    return hash;
  }
  static uint64_t splitmix64(uint64_t x) {
    uint64_t z = x + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t start(const std::string &name) const { return fnv1a(std::to_string(seed) + ":" + name); }
  static double at(uint64_t start, uint64_t i) {
    return static_cast<double>(splitmix64(start + i) >> 40) / (1 << 23) - 1;
  }
  static bool endsIn(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
  }

  std::pair<double, double> distribution(const std::string &name,
                                         const std::vector<int64_t> &shape) const {
    size_t dot = name.rfind('.');
    std::string stem = dot == std::string::npos ? "" : name.substr(0, dot);
    std::string kind = dot == std::string::npos ? name : name.substr(dot + 1);
    if (kind == "running_mean")
      return {0, 0};
    if (kind == "running_var")
      return {1, 0};
    if (shape.size() >= 2) {
      double fan = 1;
      for (size_t i = 1; i < shape.size(); ++i)
        fan *= static_cast<double>(shape[i]);
      return {0, std::sqrt(6 / fan)};
    }
    bool last = !options.residualNorm.empty() && endsIn(stem, options.residualNorm);
    double f = last ? options.residualFactor : 1;
    if (kind == "weight")
      return {f, 0.1 * f};
    if (names.count(stem + ".running_mean"))
      return {options.normBias * f, 0.05 * f};
    return {0, 0.05};
  }

  std::vector<float> fill(const std::string &name, const std::vector<int64_t> &shape, double offset,
                          double scale) const {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    std::vector<float> values(count);
    uint64_t first = start(name);
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(offset + scale * at(first, i));
    return values;
  }

  uint64_t seed;
  HashedOptions options;
  std::set<std::string> names;
};

} // namespace gc::test

#endif // GC_TEST_PINNED_HASHED_H
