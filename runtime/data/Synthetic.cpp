#include "runtime/data/Synthetic.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/weights/Initializer.h"
#include "runtime/weights/Philox.h"

#include <algorithm>
#include <cstring>

namespace gc::runtime {

namespace {

/// Rows are windows of one pool of normal values, each at a place drawn from (sample, row).
class Synthetic final : public Dataset {
public:
  Synthetic(const ModelInput &input, uint64_t seed, const char *split, int64_t samples)
      : generator(mixKey(seed, hashName(split))), samples(samples), classes(input.classes),
        rowCount(input.sampleShape.empty() ? 1 : input.sampleShape[0]),
        rowElements(input.sampleElements() / rowCount), labelCount(input.labelElements()),
        isTokens(input.isTokens), pool(poolElements) {
    InitialValues normal{InitialDistribution::Normal, 0, 1, 0, 0};
    drawInitialValues(normal, seed, split, 0, pool.size(), pool.data());
  }

  int64_t size() const override { return samples; }
  int64_t label(int64_t index) const override {
    return classes > 0 ? generator(static_cast<uint64_t>(index), 1)[0] % classes : 0;
  }
  int64_t rows() const override { return rowCount; }
  Status readLabels(int64_t index, int64_t *labels) const override {
    if (labelCount == 1)
      labels[0] = label(index);
    for (int64_t i = 0; labelCount > 1 && i < labelCount; ++i)
      labels[i] = classes > 0 ? drawn(index, i, 3) % classes : 0;
    return {};
  }
  Status read(int64_t index, int64_t begin, int64_t end, float *sample, float *) const override {
    if (isTokens)
      return readTokens(index, begin, end, sample);
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
  // Tokens are below the number of classes, which no vocabulary is smaller than in a language
  // model.
  Status readTokens(int64_t index, int64_t begin, int64_t end, float *sample) const {
    for (int64_t i = begin * rowElements; i < end * rowElements; ++i) {
      auto token = static_cast<int32_t>(drawn(index, i, 2) % std::max<int64_t>(classes, 2));
      std::memcpy(sample + i, &token, sizeof token);
    }
    return {};
  }
  uint32_t drawn(int64_t index, int64_t place, uint64_t what) const {
    return generator(static_cast<uint64_t>(index) << 32 | static_cast<uint64_t>(place), what)[0];
  }

  int64_t samples, classes, rowCount, rowElements, labelCount;
  bool isTokens;
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
