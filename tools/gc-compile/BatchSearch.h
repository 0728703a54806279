// The largest batch that fits, by as few questions as possible.
#ifndef GC_TOOLS_GC_COMPILE_BATCHSEARCH_H
#define GC_TOOLS_GC_COMPILE_BATCHSEARCH_H

#include <cstdint>
#include <map>
#include <optional>

/// Tells which batch to ask about next and learns the answer, until one fits and the next does not.
/// A line through what batches need says where to look; where it misleads, steps double and
/// intervals halve. What a step needs need not grow with every sample (workspaces of libraries
/// jump), so that a batch far above the answer may fit, too: the answer is a border, and proven as
/// one.
class BatchSearch {
public:
  BatchSearch(int64_t room, int64_t start, int64_t most) : room(room), start(start), most(most) {}

  /// `bytes` is what a batch needs; 0 where that is not known.
  void learn(int64_t batch, bool fits, int64_t bytes);
  /// Nothing once largest() is known to fit and the batch behind it is known not to.
  std::optional<int64_t> next();
  /// 0 where not even one sample fits.
  int64_t largest() const;

private:
  /// The smallest that is known not to fit, above all that do; most + 1 where none is known.
  int64_t tooLarge() const;
  std::optional<int64_t> guess() const;

  struct Known {
    bool fits;
    int64_t bytes;
  };
  std::map<int64_t, Known> known;
  int64_t room, start, most;
  int asked = 0;        // since the interval was last halved
  int64_t interval = 0; // as it was then
};

#endif // GC_TOOLS_GC_COMPILE_BATCHSEARCH_H
