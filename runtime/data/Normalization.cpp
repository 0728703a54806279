#include "runtime/data/Normalization.h"

#include "runtime/data/ListText.h"
#include "runtime/process/Nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gc::runtime {

static Error notUnderstood(const std::string &text, const std::string &why,
                           const std::string &meant = "") {
  return badInput(fmt::format("--normalize={}: {}; expected imagenet, half, none or MEAN:DEVIATION "
                              "with one value or one for each channel, such as "
                              "0.485,0.456,0.406:0.229,0.224,0.225{}",
                              text, why, meant));
}

static std::optional<std::vector<float>> parseValues(const std::string &text) {
  std::vector<float> values;
  for (const std::string &part : splitText(text, ',')) {
    std::optional<float> value = parseNumber(part);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

Result<Normalization> parseNormalization(const std::string &text) {
  if (text == "half")
    return Normalization();
  if (text == "none")
    return Normalization{{0.0f}, {1.0f}};
  if (text == "imagenet")
    return Normalization{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  std::vector<std::string> halves = splitText(text, ':');
  if (halves.size() == 1)
    return notUnderstood(text, "there is no such name",
                         didYouMean(nearestName(text, {"imagenet", "half", "none"})));
  if (halves.size() != 2)
    return notUnderstood(text, "it has more than one ':'");
  auto mean = parseValues(halves[0]), deviation = parseValues(halves[1]);
  if (!mean || !deviation)
    return notUnderstood(
        text, fmt::format("'{}' is not a list of numbers", mean ? halves[1] : halves[0]));
  if (mean->size() != deviation->size())
    return notUnderstood(
        text, fmt::format("{} means and {} deviations", mean->size(), deviation->size()));
  for (float value : *deviation)
    if (value <= 0)
      return notUnderstood(text, fmt::format("a deviation of {}", value));
  return Normalization{std::move(*mean), std::move(*deviation)};
}

Status Normalization::checkChannels(int64_t channels) const {
  if (mean.size() == 1 || static_cast<int64_t>(mean.size()) == channels)
    return {};
  return badInput(fmt::format("--normalize has values for {} channels, the model takes {}; use one "
                              "value, or one for each channel",
                              mean.size(), channels));
}

std::string Normalization::text() const {
  return fmt::format("mean {}, deviation {}", fmt::join(mean, " "), fmt::join(deviation, " "));
}

} // namespace gc::runtime
