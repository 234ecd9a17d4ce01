#include "passes/layout/minimum_cut.h"

#include <algorithm>

namespace weft::passes {

size_t MinimumCut::AddNode() {
  out_.emplace_back();
  return out_.size() - 1;
}

void MinimumCut::AddEdge(size_t from, size_t to, int64_t capacity) {
  out_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  out_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool MinimumCut::FindLevels() {
  level_.assign(out_.size(), -1);
  level_[kSource] = 0;
  std::vector<size_t> reached = {kSource};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const size_t e : out_[reached[i]]) {
      const Edge& edge = edges_[e];
      if (edge.capacity == 0 || level_[edge.to] >= 0) continue;
      level_[edge.to] = level_[reached[i]] + 1;
      reached.push_back(edge.to);
    }
  return level_[kSink] >= 0;
}

// What one more path carries, whose nodes have one level after the other; 0 when there is none.
int64_t MinimumCut::Augment() {
  std::vector<size_t> path;
  size_t node = kSource;
  while (node != kSink) {
    if (next_[node] == out_[node].size()) {  // a dead end
      if (path.empty()) return 0;
      node = edges_[path.back() ^ 1].to;
      path.pop_back();
      ++next_[node];
      continue;
    }
    const size_t e = out_[node][next_[node]];
    if (edges_[e].capacity > 0 && level_[edges_[e].to] == level_[node] + 1) {
      path.push_back(e);
      node = edges_[e].to;
    } else {
      ++next_[node];
    }
  }
  int64_t carried = edges_[path[0]].capacity;
  for (const size_t e : path) carried = std::min(carried, edges_[e].capacity);
  for (const size_t e : path) {
    edges_[e].capacity -= carried;
    edges_[e ^ 1].capacity += carried;
  }
  return carried;
}

int64_t MinimumCut::Solve() {
  int64_t price = 0;
  while (FindLevels()) {
    next_.assign(out_.size(), 0);
    while (const int64_t carried = Augment()) price += carried;
  }
  return price;
}

}  // namespace weft::passes
