// Schedules checked by means that share no code with what made them.
#ifndef GC_TEST_ALGORITHMS_SCHEDULEREPLAY_H
#define GC_TEST_ALGORITHMS_SCHEDULEREPLAY_H

#include "passes/algorithms/StepGraph.h"

#include <string>

namespace gc::test {

/// Follows a schedule: every op runs once as it stands and in its place, others again only where
/// they may, and each reads an instance that was made, of the value that it wants. Says what is
/// wrong, or nothing.
std::string replay(const StepGraph &graph, const Schedule &schedule);

/// Live bytes at each place and at the end, straight from the definition: an instance is alive from
/// where it is made to its last reader (the original of a returned value to the end), and each
/// result lies over the first operand that dies and allows it. Quadratic.
std::vector<int64_t> liveBytes(const StepGraph &graph, const Schedule &schedule);

} // namespace gc::test

#endif // GC_TEST_ALGORITHMS_SCHEDULEREPLAY_H
