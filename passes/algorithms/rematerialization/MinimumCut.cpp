// Dinic's algorithm: as long as the sink can be reached, flow is sent along shortest paths only.
#include "passes/algorithms/rematerialization/MinimumCut.h"

#include <algorithm>

namespace gc {

int MinimumCut::addEdge(int from, int to, int64_t capacity) {
  fromOf.push_back(from);
  toOf.push_back(to);
  given.push_back(capacity);
  firstArc.clear();
  return static_cast<int>(given.size()) - 1;
}

void MinimumCut::layOut() {
  size_t edges = given.size();
  firstArc.assign(nodes + 1, 0);
  for (size_t edge = 0; edge < edges; ++edge) {
    ++firstArc[fromOf[edge] + 1];
    ++firstArc[toOf[edge] + 1];
  }
  for (int node = 0; node < nodes; ++node)
    firstArc[node + 1] += firstArc[node];
  std::vector<int> place(firstArc.begin(), firstArc.end() - 1);
  head.resize(2 * edges);
  partner.resize(2 * edges);
  arcOf.resize(edges);
  for (size_t edge = 0; edge < edges; ++edge) {
    int there = place[fromOf[edge]]++, back = place[toOf[edge]]++;
    head[there] = toOf[edge];
    head[back] = fromOf[edge];
    partner[there] = back;
    partner[back] = there;
    arcOf[edge] = there;
  }
}

// How many arcs each node is away from the source; -1: it cannot be reached.
bool MinimumCut::findLevels(int source, int sink) {
  level.assign(nodes, -1);
  level[source] = 0;
  queue.assign(1, source);
  for (size_t i = 0; i < queue.size(); ++i)
    for (int node = queue[i], arc = firstArc[node]; arc < firstArc[node + 1]; ++arc)
      if (left[arc] > 0 && level[head[arc]] < 0) {
        level[head[arc]] = level[node] + 1;
        queue.push_back(head[arc]);
      }
  return level[sink] >= 0;
}

// Sends flow along one path that leads a level on with each arc; 0 if there is none.
int64_t MinimumCut::augment(int source, int sink) {
  path.clear();
  int node = source;
  while (node != sink) {
    int &arc = next[node];
    while (arc < firstArc[node + 1] && !(left[arc] > 0 && level[head[arc]] == level[node] + 1))
      ++arc;
    if (arc < firstArc[node + 1]) {
      path.push_back(arc);
      node = head[arc];
      continue;
    }
    if (path.empty())
      return 0;
    // This node leads nowhere: its predecessor goes on with its next arc.
    node = head[partner[path.back()]];
    path.pop_back();
    ++next[node];
  }
  int64_t most = endless;
  for (int arc : path)
    most = std::min(most, left[arc]);
  for (int arc : path) {
    left[arc] -= most;
    left[partner[arc]] += most;
  }
  return most;
}

int64_t MinimumCut::solve(int source, int sink) {
  if (firstArc.empty())
    layOut();
  left.assign(head.size(), 0);
  for (size_t edge = 0; edge < given.size(); ++edge)
    left[arcOf[edge]] = given[edge];
  int64_t flow = 0;
  while (findLevels(source, sink)) {
    next.assign(firstArc.begin(), firstArc.end() - 1);
    while (int64_t sent = augment(source, sink))
      flow += sent;
  }
  return flow;
}

} // namespace gc
