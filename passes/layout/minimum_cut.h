// The cheapest way to part the nodes of a graph in two: Dinic's algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::passes {

class MinimumCut {
 public:
  static constexpr size_t kSource = 0, kSink = 1;  // nodes that there are from the beginning
  // What no cheapest cut goes through.
  static constexpr int64_t kNever = int64_t{1} << 60;

  size_t AddNode();
  // `capacity` is the price where `from` is on the side of the source and `to` on that of the sink.
  void AddEdge(size_t from, size_t to, int64_t capacity);
  // The least price. Of the cuts that have it, the one with the fewest nodes beside the source.
  int64_t Solve();
  // After Solve().
  bool IsWithSource(size_t node) const { return level_[node] >= 0; }

 private:
  struct Edge {
    size_t to;
    int64_t capacity;  // what is left of it
  };
  bool FindLevels();
  int64_t Augment();

  std::vector<Edge> edges_;  // an even one and the one behind it run both ways between two nodes
  std::vector<std::vector<size_t>> out_{2};  // of each node, edges
  std::vector<int64_t> level_;               // edges from the source; -1: not reached
  std::vector<size_t> next_;                 // of each node, the edge that is tried next
};

}  // namespace weft::passes
