// The peak and the time of a plan, kept up to date while single decisions change.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_PLANTRACKER_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_PLANTRACKER_H

#include "passes/algorithms/rematerialization/LiveProfile.h"
#include "passes/algorithms/rematerialization/Retention.h"

#include <algorithm>
#include <optional>

namespace gc {

/// Decisions about each value, and what follows from them. A change touches the ops that run again
/// because of it and the values that they read and make, not the whole step.
///
/// The *moment* of an original op is its number. What runs again does so at the moment of a
/// backward op that needs it, before that op and in the original order: a dropped value comes back
/// at the first moment that needs it, a forgotten one at each.
class PlanTracker {
public:
  /// The graph must outlive the tracker.
  PlanTracker(const StepGraph &graph, const std::vector<Retention> &retention);

  const std::vector<Retention> &retention() const { return decisions; }
  /// Decides about a value that can be dropped. settle() must follow, after one or several.
  void decide(int value, Retention retention);
  /// Counts anew what decisions have touched.
  void settle();
  /// The first part of it, which may do to know that a change is not worth it: what runs again and
  /// when. recomputeSeconds() and valid() are right, and settle() or undo() must follow.
  void settleRuns();
  /// Begins a change that undo() can take back.
  void mark();
  /// Takes back what was decided since mark().
  void undo();

  int64_t peak() const { return std::max(atEnd, profile->mostOfAll()); }
  /// The first moment that has the most, of those before the end.
  int peakMoment() const { return profile->whereMost(); }
  int64_t bytesAt(int moment) const { return profile->most(moment, moment + 1); }
  /// Whether the value was there before the moment and still is at it.
  bool waitsAt(int value, int moment) const;
  double recomputeSeconds() const { return again; }
  /// False if an op would run again after one of its variables has changed.
  bool valid() const { return late == 0; }
  /// The order of execution that has this peak.
  Schedule schedule() const;

private:
  // A point in time: a moment, and within it the number of the op that runs again; the original op
  // comes last.
  using Time = int64_t;
  Time timeOf(int moment, int op) const { return Time(moment) * (places + 1) + op; }
  int momentOf(Time time) const { return static_cast<int>(time / (places + 1)); }
  static constexpr int never = -1;

  struct Life {
    Time first = never, last = never; // never: there is no such instance
    bool operator==(const Life &) const = default;
  };
  struct Lives {
    Life original, again;
    bool operator==(const Lives &) const = default;
  };
  struct Undo {
    enum Kind { Decision, Moments, ValueLives, Group } kind;
    int index;
    int64_t before = 0; // of Moments: a place in `momentsBefore`
    Lives lives{};
  };
  using MomentList = std::vector<int>; // rising

  bool isKept(int value) const { return decisions[value] == Retention::Keep; }
  bool isForgotten(int value) const { return decisions[value] == Retention::Forget; }
  void findMoments(int op, MomentList &wanted) const;
  int firstNeed(int value) const;
  void setMoments(int op, const MomentList &to);
  Lives livesOf(int value) const;
  void setLives(int value, const Lives &lives);
  void addAcross(const Life &life, int64_t bytes);
  void touchGroup(int moment);
  int64_t groupPeak(int moment);
  template <typename Visit> void forEachRun(int moment, Visit visit) const;
  bool diesAt(int value, Time now, bool isLate) const;
  int64_t writtenOver(const FlatGraph::Op &op, Time now, bool isLate) const;

  const StepGraph &graph;
  FlatGraph flat;
  int places; // moments
  int firstBackward;
  std::vector<Retention> decisions; // of each value; what cannot be dropped is kept
  // Ops that read each value: before the first backward op, and from it on.
  std::vector<std::vector<int>> forwardReaders, backwardReaders;
  std::vector<int> deadline;          // of each op: when one of its variables changes
  std::vector<MomentList> moments;    // of each op: when it runs again
  std::vector<std::vector<int>> runs; // of each moment: the ops that run again then
  std::vector<Lives> lives;           // of each value
  std::vector<int64_t> group;         // of each moment: the most of what begins or ends in it
  std::optional<LiveProfile> profile;
  int64_t atEnd = 0;
  double again = 0;
  int late = 0;
  std::vector<Undo> log;
  std::vector<MomentList> momentsBefore; // for undo(); only the first `momentsUsed` count
  size_t momentsUsed = 0;
  MomentList wanted; // scratch
  // Scratch of groupPeak(): when a forgotten value is read last in the moment.
  std::vector<Time> lastInGroup;
  // What a change has touched and is not yet counted anew.
  std::vector<int> openOps, openValues, openGroups;
  std::vector<char> isOpenOp, isOpenValue, isOpenGroup;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_PLANTRACKER_H
