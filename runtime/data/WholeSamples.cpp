#include "runtime/data/WholeSamples.h"

#include "runtime/data/Fingerprint.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

namespace gc::runtime {

Result<WholeNumbers> WholeNumbers::open(std::shared_ptr<const SafetensorsFile> file,
                                        const SafetensorsEntry &entry, const std::string &what,
                                        const std::vector<int64_t> &sampleShape) {
  std::vector<int64_t> shape = sampleShape;
  shape.insert(shape.begin(), entry.shape.empty() ? 1 : std::max<int64_t>(entry.shape[0], 1));
  if ((entry.dtype != "I64" && entry.dtype != "I32") || entry.shape != shape)
    return badInput(fmt::format("'{}': {} is {} {}, the model takes I64 {} (any number of samples "
                                "first)",
                                file->path(), what, entry.dtype, shapeText(entry.shape),
                                shapeText(shape)));
  int64_t count = 1;
  for (int64_t size : sampleShape)
    count *= size;
  return WholeNumbers(std::move(file), entry, what, count);
}

Status WholeNumbers::read(int64_t sample, int64_t *target) const {
  size_t width = safetensorsElementBytes(entry.dtype);
  uint64_t bytes = static_cast<uint64_t>(count) * width;
  // They are read to the end of the target, and widened from the first one on.
  char *numbers = reinterpret_cast<char *>(target + count) - bytes;
  if (Status got = file->read(entry, static_cast<uint64_t>(sample) * bytes, numbers, bytes);
      !got || width == sizeof(int64_t))
    return got;
  for (int64_t i = 0; i < count; ++i) {
    int32_t number = 0;
    std::memcpy(&number, numbers + static_cast<size_t>(i) * width, sizeof number);
    target[i] = number;
  }
  return {};
}

Error WholeNumbers::refuse(int64_t sample, int64_t place, int64_t value,
                           const std::string &why) const {
  return badInput(fmt::format("'{}': {} {} of sample {} is {}, {}", file->path(), what, place,
                              sample, value, why));
}

namespace {

class TokenSamples final : public Dataset {
public:
  TokenSamples(WholeNumbers tokens, std::vector<int64_t> labels, int64_t length)
      : tokens(std::move(tokens)), labels(std::move(labels)), length(length) {}

  int64_t size() const override { return tokens.samples(); }
  int64_t label(int64_t index) const override {
    return labels.empty() ? -1 : labels[static_cast<size_t>(index)];
  }
  int64_t rows() const override { return 1; }
  // One more, as the numbers begin at a multiple of eight bytes.
  size_t scratchElements() const override { return static_cast<size_t>(length) * 2 + 1; }
  Status read(int64_t index, int64_t, int64_t, float *sample, float *scratch) const override {
    auto begin = reinterpret_cast<uintptr_t>(scratch);
    auto *numbers = reinterpret_cast<int64_t *>((begin + 7) / 8 * 8);
    if (Status got = tokens.read(index, numbers); !got)
      return got;
    for (int64_t i = 0; i < length; ++i) {
      if (numbers[i] < 0 || numbers[i] > std::numeric_limits<int32_t>::max())
        return tokens.refuse(index, i, numbers[i], "no number from 0 to 2147483647");
      auto narrow = static_cast<int32_t>(numbers[i]);
      std::memcpy(sample + i, &narrow, sizeof narrow);
    }
    return {};
  }
  Result<uint64_t> fingerprint() const override {
    constexpr int64_t most = 1024;
    Fingerprint print;
    print.add(labels.data(), labels.size() * sizeof(int64_t)).add(static_cast<uint64_t>(size()));
    std::vector<int64_t> numbers(static_cast<size_t>(length));
    for (int64_t i = 0; i < size(); i += std::max<int64_t>(1, size() / most)) {
      if (Status got = tokens.read(i, numbers.data()); !got)
        return got.error();
      print.add(numbers.data(), numbers.size() * sizeof(int64_t));
    }
    return print.value();
  }

private:
  WholeNumbers tokens;
  std::vector<int64_t> labels; // empty: others hold them
  int64_t length;
};

class WithLabels final : public Dataset {
public:
  WithLabels(std::unique_ptr<Dataset> samples, WholeNumbers labels, const ModelInput &input)
      : samples(std::move(samples)), labels(std::move(labels)), count(input.labelElements()),
        classes(input.classes) {}

  int64_t size() const override { return samples->size(); }
  int64_t label(int64_t) const override { return -1; }
  int64_t rows() const override { return samples->rows(); }
  size_t scratchElements() const override { return samples->scratchElements(); }
  Status read(int64_t index, int64_t begin, int64_t end, float *sample,
              float *scratch) const override {
    return samples->read(index, begin, end, sample, scratch);
  }
  Status readLabels(int64_t index, int64_t *target) const override {
    if (Status got = labels.read(index, target); !got)
      return got;
    for (int64_t i = 0; classes > 0 && i < count; ++i)
      if (target[i] >= classes)
        return labels.refuse(index, i, target[i],
                             fmt::format("the model has classes 0 to {}", classes - 1));
    return {};
  }
  Result<uint64_t> fingerprint() const override {
    constexpr int64_t most = 1024;
    Result<uint64_t> all = samples->fingerprint();
    if (!all)
      return all;
    Fingerprint print;
    print.add(*all);
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    for (int64_t i = 0; i < size(); i += std::max<int64_t>(1, size() / most)) {
      if (Status got = labels.read(i, numbers.data()); !got)
        return got.error();
      print.add(numbers.data(), numbers.size() * sizeof(int64_t));
    }
    return print.value();
  }

private:
  std::unique_ptr<Dataset> samples;
  WholeNumbers labels;
  int64_t count, classes;
};

} // namespace

std::unique_ptr<Dataset> makeTokenSamples(WholeNumbers tokens, std::vector<int64_t> labels,
                                          int64_t length) {
  return std::make_unique<TokenSamples>(std::move(tokens), std::move(labels), length);
}

std::unique_ptr<Dataset> withLabels(std::unique_ptr<Dataset> samples, WholeNumbers labels,
                                    const ModelInput &input) {
  return std::make_unique<WithLabels>(std::move(samples), std::move(labels), input);
}

} // namespace gc::runtime
