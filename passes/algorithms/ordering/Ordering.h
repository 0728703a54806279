// The order of ops that needs the least memory. Plain data in, plain data out; knows no IR.
#ifndef GC_PASSES_ALGORITHMS_ORDERING_ORDERING_H
#define GC_PASSES_ALGORITHMS_ORDERING_ORDERING_H

#include "passes/algorithms/StepGraph.h"

namespace gc {

/// Edges that values do not show (variables that change): `before[i]` are the ops that op i must
/// follow. Behind the graph's ops may come *gates*: a gate opens when all that it follows have run
/// or opened, and who follows it waits for that. With them, "after all of these" for many ops takes
/// few edges.
using ExtraEdges = std::vector<std::vector<int>>;

/// The largest sums of live bytes: as things are (the rules of Lives), and if every forward value
/// were made again for each backward op that reads it, which no rematerialization can get below.
struct OrderPeaks {
  int64_t kept = 0, madeAgain = 0;
};

/// When the ops of the graph run in `order`, forward ops first.
OrderPeaks peaksOf(const StepGraph &graph, const std::vector<int> &order);

/// An order of the graph's ops with a sum of both peaks as small as it can find. What is kept never
/// peaks above the order that they are in. Of such orders it takes one near to that, so ops that
/// have no part in a peak stay where they are; and what comes before the first backward op stays
/// before it. Depends on its arguments alone. Its time grows with the number of
/// ops as long as few of them are ready at a time.
std::vector<int> orderForMemory(const StepGraph &graph, const ExtraEdges &before);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_ORDERING_ORDERING_H
