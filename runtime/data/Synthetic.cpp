#include "runtime/data/Synthetic.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/weights/Initializer.h"
#include "runtime/weights/Philox.h"

#include <algorithm>

namespace gc::runtime {

namespace {

/// Rows are windows of one pool of normal values, each at a place drawn from (sample, row).
class Synthetic final : public Dataset {
public:
  Synthetic(const ModelInput &input, uint64_t seed, const char *split, int64_t samples)
      : generator(mixKey(seed, hashName(split))), samples(samples), classes(input.classes),
        rowCount(input.sampleShape.empty() ? 1 : input.sampleShape[0]),
        rowElements(input.sampleElements() / rowCount), pool(poolElements) {
    InitialValues normal{InitialDistribution::Normal, 0, 1, 0, 0};
    drawInitialValues(normal, seed, split, 0, pool.size(), pool.data());
  }

  int64_t size() const override { return samples; }
  int64_t label(int64_t index) const override {
    return classes > 0 ? generator(static_cast<uint64_t>(index), 1)[0] % classes : 0;
  }
  int64_t rows() const override { return rowCount; }
  Status read(int64_t index, int64_t begin, int64_t end, float *sample, float *) const override {
    for (int64_t row = begin; row < end; ++row) {
      uint64_t counter = static_cast<uint64_t>(index) << 32 | static_cast<uint64_t>(row);
      size_t start = generator(counter, 2)[0] % poolElements;
      float *target = sample + row * rowElements;
      for (int64_t done = 0; done < rowElements;) {
        int64_t part = std::min<int64_t>(rowElements - done, poolElements - start);
        std::copy_n(pool.data() + start, part, target + done);
        done += part;
        start = 0;
      }
    }
    return {};
  }

  /// Every value is drawn from the seed, as the labels are.
  Result<uint64_t> fingerprint() const override {
    Fingerprint print;
    print.add(static_cast<uint64_t>(rowCount)).add(static_cast<uint64_t>(rowElements));
    print.add(static_cast<uint64_t>(classes)).add(static_cast<uint64_t>(samples));
    return print.add(pool.data(), pool.size() * sizeof(float)).value();
  }

private:
  static constexpr size_t poolElements = (1 << 17) - 1;
  Philox generator;
  int64_t samples, classes, rowCount, rowElements;
  std::vector<float> pool;
};

} // namespace

Result<DataSource> openSynthetic(const ModelInput &input, uint64_t seed) {
  if (input.sampleElements() < 1)
    return badInput("the model's input has no elements");
  DataSource source;
  source.description = "synthetic: 65536 train, 1024 test samples";
  source.train = std::make_unique<Synthetic>(input, seed, "synthetic.train", 65536);
  source.test = std::make_unique<Synthetic>(input, seed, "synthetic.test", 1024);
  source.endless = true;
  return source;
}

} // namespace gc::runtime
