// How the samples of an evaluation were classified, class by class.
#ifndef GC_RUNTIME_REPORT_CLASSCOUNTS_H
#define GC_RUNTIME_REPORT_CLASSCOUNTS_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gc::runtime {

class ClassCounts {
public:
  /// Up to so many classes there is a confusion matrix: with more nobody reads it.
  static constexpr int64_t kMostInMatrix = 256;
  /// With as many classes or fewer everything would be among them.
  static constexpr int64_t kTop = 5;

  explicit ClassCounts(int64_t classes);

  /// A sample: one logit for each class. The first of equal logits wins, and one that is not a
  /// number is above all others.
  void add(std::span<const float> logits, int64_t label);

  int64_t classes() const { return static_cast<int64_t>(samples.size()); }
  uint64_t total() const { return seen; }
  uint64_t correctOf(int64_t label) const { return correct[static_cast<size_t>(label)]; }
  uint64_t samplesOf(int64_t label) const { return samples[static_cast<size_t>(label)]; }
  /// How often a class was answered, rightly or not.
  uint64_t answersOf(int64_t label) const { return answers[static_cast<size_t>(label)]; }
  uint64_t correctInAll() const;
  /// The share of samples whose label is among the five largest logits; nothing with five classes
  /// or fewer.
  std::optional<double> topFive() const;
  bool hasMatrix() const { return !matrix.empty(); }
  uint64_t confused(int64_t label, int64_t answer) const {
    return matrix[static_cast<size_t>(label * classes() + answer)];
  }

private:
  uint64_t seen = 0, amongTop = 0;
  std::vector<uint64_t> samples, correct, answers;
  std::vector<uint64_t> matrix; // a row for each label; empty with too many classes
};

/// The class with the largest logit, as ClassCounts counts it.
int64_t answerOf(std::span<const float> logits);

/// {per_class: [{class, name, samples, correct, answers, recall, precision}], confusion: rows of
/// labels, or null}. Names as far as they are known.
nlohmann::ordered_json classCountsJson(const ClassCounts &counts,
                                       const std::vector<std::string> &names);
/// Both as tables of a page, under `title`.
std::string classCountsHtml(const std::string &title, const ClassCounts &counts,
                            const std::vector<std::string> &names);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_CLASSCOUNTS_H
