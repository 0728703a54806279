//===- ByteMap.h - which bytes hold what ------------------------*- C++ -*-===//
//
// A map from the bytes of an arena to numbers, kept as disjoint pieces; what the replay checkers of
// memory plans run on.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_BYTEMAP_H
#define GC_PASSES_ALGORITHMS_PACKING_BYTEMAP_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace gc {

/// Bytes [begin, end).
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool operator==(const ByteRange &other) const = default;
  bool meets(const ByteRange &other) const { return begin < other.end && other.begin < end; }
  bool contains(const ByteRange &other) const { return begin <= other.begin && other.end <= end; }
};

class ByteMap {
public:
  struct Piece {
    ByteRange range;
    int content; // -1: nothing was ever written there
  };

  /// All bytes of `range` hold `content` from now on.
  void write(ByteRange range, int content) {
    if (range.begin >= range.end)
      return;
    splitAt(range.begin);
    splitAt(range.end);
    pieces.erase(pieces.lower_bound(range.begin), pieces.lower_bound(range.end));
    pieces[range.begin] = {range.end, content};
  }

  /// The first piece of `range` whose content is not `accepted`; a piece without content never is.
  template <typename Predicate>
  std::optional<Piece> findUnless(ByteRange range, Predicate accepted) const {
    int64_t at = range.begin;
    for (auto it = firstMeeting(range); at < range.end; ++it) {
      if (it == pieces.end() || it->first > at)
        return Piece{{at, it == pieces.end() ? range.end : std::min(it->first, range.end)}, -1};
      if (!accepted(it->second.content))
        return Piece{{at, std::min(it->second.end, range.end)}, it->second.content};
      at = it->second.end;
    }
    return std::nullopt;
  }

  /// The first piece in `range` with content that `isWanted`.
  template <typename Predicate>
  std::optional<Piece> find(ByteRange range, Predicate isWanted) const {
    for (auto it = firstMeeting(range); it != pieces.end() && it->first < range.end; ++it)
      if (isWanted(it->second.content))
        return Piece{{std::max(range.begin, it->first), std::min(range.end, it->second.end)},
                     it->second.content};
    return std::nullopt;
  }

private:
  struct Held {
    int64_t end;
    int content;
  };

  std::map<int64_t, Held>::const_iterator firstMeeting(ByteRange range) const {
    auto it = pieces.upper_bound(range.begin);
    if (it != pieces.begin() && std::prev(it)->second.end > range.begin)
      --it;
    return it;
  }

  // No piece lies on both sides of `at` afterwards.
  void splitAt(int64_t at) {
    auto it = pieces.lower_bound(at);
    if (it == pieces.begin())
      return;
    Held &before = std::prev(it)->second;
    if (before.end <= at)
      return;
    pieces.emplace_hint(it, at, before);
    before.end = at;
  }

  std::map<int64_t, Held> pieces; // by first byte, disjoint
};

} // namespace gc

#endif
