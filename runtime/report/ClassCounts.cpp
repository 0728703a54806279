#include "runtime/report/ClassCounts.h"

#include "runtime/report/HtmlParts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gc::runtime {

/// Whether `other`, at place j, comes before `mine`, at place i, in descending order.
static bool isAbove(float other, size_t j, float mine, size_t i) {
  if (std::isnan(other) || std::isnan(mine))
    return std::isnan(other) && (!std::isnan(mine) || j < i);
  return other > mine || (other == mine && j < i);
}

int64_t answerOf(std::span<const float> logits) {
  size_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i)
    if (isAbove(logits[i], i, logits[best], best))
      best = i;
  return static_cast<int64_t>(best);
}

ClassCounts::ClassCounts(int64_t classes)
    : samples(static_cast<size_t>(classes)), correct(samples.size()), answers(samples.size()),
      matrix(classes <= kMostInMatrix ? samples.size() * samples.size() : 0) {}

void ClassCounts::add(std::span<const float> logits, int64_t label) {
  auto place = static_cast<size_t>(label);
  int64_t above = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    above += isAbove(logits[i], i, logits[place], place);
  auto answer = static_cast<size_t>(answerOf(logits));
  ++seen;
  amongTop += above < kTop;
  ++samples[place];
  ++answers[answer];
  correct[place] += answer == place;
  if (hasMatrix())
    ++matrix[place * samples.size() + answer];
}

uint64_t ClassCounts::correctInAll() const {
  return std::accumulate(correct.begin(), correct.end(), uint64_t{0});
}

std::optional<double> ClassCounts::topFive() const {
  if (classes() <= kTop || seen == 0)
    return std::nullopt;
  return static_cast<double>(amongTop) / static_cast<double>(seen);
}

static std::optional<double> shareOf(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

static std::string nameOf(int64_t label, const std::vector<std::string> &names) {
  auto place = static_cast<size_t>(label);
  return place < names.size() ? names[place] : std::to_string(label);
}

nlohmann::ordered_json classCountsJson(const ClassCounts &counts,
                                       const std::vector<std::string> &names) {
  using json = nlohmann::ordered_json;
  auto orNull = [](std::optional<double> value) { return value ? json(*value) : json(); };
  json perClass = json::array(), matrix = json::array();
  for (int64_t label = 0; label < counts.classes(); ++label) {
    uint64_t samples = counts.samplesOf(label), correct = counts.correctOf(label);
    perClass.push_back({{"class", label},
                        {"name", nameOf(label, names)},
                        {"samples", samples},
                        {"correct", correct},
                        {"answers", counts.answersOf(label)},
                        {"recall", orNull(shareOf(correct, samples))},
                        {"precision", orNull(shareOf(correct, counts.answersOf(label)))}});
    if (!counts.hasMatrix())
      continue;
    json row = json::array();
    for (int64_t answer = 0; answer < counts.classes(); ++answer)
      row.push_back(counts.confused(label, answer));
    matrix.push_back(std::move(row));
  }
  return {{"per_class", perClass}, {"confusion", counts.hasMatrix() ? matrix : json()}};
}

/// Wider tables would be pictures of nothing; the report has all of the matrix.
static constexpr int64_t kMostColumns = 32;

static std::string matrixHtml(const ClassCounts &counts, const std::vector<std::string> &names) {
  std::string text = "<table class=\"confusion\">\n<tr><th>label \\ answer</th>";
  for (int64_t answer = 0; answer < counts.classes(); ++answer)
    text += fmt::format("<th>{}</th>", escaped(nameOf(answer, names)));
  text += "</tr>\n";
  for (int64_t label = 0; label < counts.classes(); ++label) {
    text += fmt::format("<tr><th>{}</th>", escaped(nameOf(label, names)));
    for (int64_t answer = 0; answer < counts.classes(); ++answer) {
      uint64_t count = counts.confused(label, answer);
      double share = shareOf(count, counts.samplesOf(label)).value_or(0);
      text += fmt::format("<td style=\"background:rgba({},{:.2f})\">{}</td>",
                          label == answer ? "46,125,50" : "198,40,40", 0.7 * share, count);
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

std::string classCountsHtml(const std::string &title, const ClassCounts &counts,
                            const std::vector<std::string> &names) {
  auto percent = [](std::optional<double> share) {
    return share ? fmt::format("{:.2f} %", 100 * *share) : std::string("-");
  };
  bool isLong = counts.classes() > kMostColumns;
  std::string text = fmt::format(
      "<h2>{}</h2>\n{}<div class=\"classes\"><table>\n"
      "<tr><th>class</th><th>samples</th><th>right</th>"
      "<th>of its samples</th><th>of its answers</th></tr>\n",
      escaped(title),
      isLong ? fmt::format("<details><summary>{} classes</summary>\n", counts.classes()) : "");
  for (int64_t label = 0; label < counts.classes(); ++label) {
    uint64_t samples = counts.samplesOf(label), correct = counts.correctOf(label);
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        escaped(nameOf(label, names)), samples, correct,
                        percent(shareOf(correct, samples)),
                        percent(shareOf(correct, counts.answersOf(label))));
  }
  text += "</table>\n";
  if (counts.hasMatrix() && counts.classes() <= kMostColumns)
    text += matrixHtml(counts, names);
  return text + (isLong ? "</div></details>\n" : "</div>\n");
}

} // namespace gc::runtime
