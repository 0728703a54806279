// Samples that were left out because they cannot be read: counted, and each told once.
#ifndef GC_RUNTIME_DATA_BADSAMPLES_H
#define GC_RUNTIME_DATA_BADSAMPLES_H

#include "runtime/data/Dataset.h"

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gc::runtime {

/// All methods may be called from several threads.
class BadSamples {
public:
  /// Notes that a sample was left out, and warns on stderr the first time (of few samples; of many
  /// the rest is only counted).
  void add(const Dataset &dataset, int64_t index, const std::string &why);

  /// Different samples, and how often one of them was left out.
  uint64_t samples() const;
  uint64_t times() const;
  /// What was said of the first ones.
  std::vector<std::string> reasons() const;

private:
  static constexpr size_t kMostTold = 20;
  mutable std::mutex mutex;
  std::set<std::pair<const Dataset *, int64_t>> seen;
  std::vector<std::string> told;
  uint64_t count = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_BADSAMPLES_H
