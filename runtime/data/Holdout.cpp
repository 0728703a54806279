#include "runtime/data/Holdout.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/Shuffle.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gc::runtime {
namespace {

/// Some samples of another data set.
class Subset final : public Dataset {
public:
  Subset(std::shared_ptr<const Dataset> whole, std::vector<int64_t> samples)
      : whole(std::move(whole)), samples(std::move(samples)) {}

  int64_t size() const override { return static_cast<int64_t>(samples.size()); }
  int64_t label(int64_t index) const override { return whole->label(at(index)); }
  Status readLabels(int64_t index, int64_t *labels) const override {
    return whole->readLabels(at(index), labels);
  }
  int64_t rows() const override { return whole->rows(); }
  size_t scratchElements() const override { return whole->scratchElements(); }
  Status read(int64_t index, int64_t begin, int64_t end, float *sample,
              float *scratch) const override {
    return whole->read(at(index), begin, end, sample, scratch);
  }
  Status readAugmented(int64_t index, uint64_t epoch, int64_t begin, int64_t end, float *sample,
                       float *scratch) const override {
    return whole->readAugmented(at(index), epoch, begin, end, sample, scratch);
  }
  bool mayHaveBadSamples() const override { return whole->mayHaveBadSamples(); }
  Result<uint64_t> fingerprint() const override {
    Result<uint64_t> all = whole->fingerprint();
    if (!all)
      return all;
    Fingerprint print;
    print.add(*all).add(samples.data(), samples.size() * sizeof(int64_t));
    return print.value();
  }

private:
  int64_t at(int64_t index) const { return samples[static_cast<size_t>(index)]; }
  std::shared_ptr<const Dataset> whole;
  std::vector<int64_t> samples; // ascending
};

} // namespace

Result<HoldoutSize> parseHoldout(const std::string &text) {
  HoldoutSize size;
  if (text == "own")
    return size;
  const char *begin = text.data(), *end = begin + text.size();
  bool isCount = text.find_first_not_of("0123456789") == std::string::npos;
  bool isRead;
  if (isCount) {
    auto [rest, error] = std::from_chars(begin, end, size.samples.emplace());
    isRead = error == std::errc() && rest == end && *size.samples > 0;
  } else {
    auto [rest, error] =
        std::from_chars(begin, end, size.fraction.emplace(), std::chars_format::fixed);
    isRead = error == std::errc() && rest == end && *size.fraction > 0 && *size.fraction < 1;
  }
  if (!isRead)
    return badInput(fmt::format("--validation={}: expected a fraction of the training samples "
                                "(above 0, below 1), a number of them, or own (the data's own "
                                "validation split)",
                                text));
  return size;
}

Status holdOut(DataSource &source, const HoldoutSize &size, uint64_t seed) {
  int64_t all = source.train->size();
  if (source.endless)
    return badInput("--validation: synthetic data is made on the way and has no samples to keep "
                    "for it; use real data");
  int64_t kept =
      size.samples ? *size.samples : std::llround(*size.fraction * static_cast<double>(all));
  if (kept < 1 || kept >= all)
    return badInput(fmt::format("--validation: {} of {} training samples would be kept for "
                                "validation and {} left to train on; both need at least one",
                                std::min(kept, all), all, std::max<int64_t>(all - kept, 0)));
  Shuffle order(mixKey(seed, hashName("validation")), /*epoch=*/0, static_cast<uint64_t>(all));
  std::vector<int64_t> held, rest;
  held.reserve(static_cast<size_t>(kept));
  for (int64_t i = 0; i < kept; ++i)
    held.push_back(static_cast<int64_t>(order(static_cast<uint64_t>(i))));
  std::sort(held.begin(), held.end());
  rest.reserve(static_cast<size_t>(all - kept));
  for (int64_t i = 0, next = 0; i < all; ++i)
    if (next < kept && held[static_cast<size_t>(next)] == i)
      ++next;
    else
      rest.push_back(i);
  std::shared_ptr<const Dataset> whole = std::move(source.train);
  source.train = std::make_unique<Subset>(whole, std::move(rest));
  source.validation = std::make_unique<Subset>(std::move(whole), std::move(held));
  source.description += fmt::format("; {} of the training samples are kept for validation", kept);
  return {};
}

} // namespace gc::runtime
