#include "passes/layout/minimum_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace weft::passes {
namespace {

struct Edge {
  size_t from, to;
  int64_t capacity;
};

MinimumCut CutOf(size_t num_nodes, const std::vector<Edge>& edges) {
  MinimumCut cut;
  while (cut.AddNode() + 1 < num_nodes) {
  }
  for (const Edge& e : edges) cut.AddEdge(e.from, e.to, e.capacity);
  return cut;
}

// Of the nodes beside the source, one bit each.
int64_t PriceOf(uint32_t with_source, const std::vector<Edge>& edges) {
  int64_t price = 0;
  for (const Edge& e : edges)
    if ((with_source >> e.from & 1) && !(with_source >> e.to & 1)) price += e.capacity;
  return price;
}

TEST(MinimumCut, IsThatOfTheCheapestOfAllPartitions) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t num_nodes = 3 + random() % 6;
    std::vector<Edge> edges;
    for (size_t i = 0; i < num_nodes * 2; ++i)
      edges.push_back({random() % num_nodes, random() % num_nodes, int64_t(random() % 5)});
    MinimumCut cut = CutOf(num_nodes, edges);
    const int64_t price = cut.Solve();
    uint32_t chosen = 0;
    for (size_t node = 0; node < num_nodes; ++node)
      chosen |= static_cast<uint32_t>(cut.IsWithSource(node)) << node;
    ASSERT_EQ(chosen & 3, 1u << MinimumCut::kSource);
    EXPECT_EQ(PriceOf(chosen, edges), price);
    for (uint32_t other = 1; other < 1u << num_nodes; other += 4) {
      EXPECT_GE(PriceOf(other, edges), price);
      if (PriceOf(other, edges) == price) {
        EXPECT_EQ(other & chosen, chosen) << "a smaller one is as cheap";
      }
    }
  }
}

TEST(MinimumCut, OfALongChainIsNotRecursive) {
  constexpr size_t kNodes = 200'000;
  std::vector<Edge> edges = {{MinimumCut::kSource, 2, 3}};
  for (size_t node = 2; node + 1 < kNodes; ++node) edges.push_back({node, node + 1, 4});
  edges.push_back({kNodes - 1, MinimumCut::kSink, 2});
  MinimumCut cut = CutOf(kNodes, edges);
  EXPECT_EQ(cut.Solve(), 2);
  EXPECT_TRUE(cut.IsWithSource(kNodes - 1));
}

TEST(MinimumCut, WithoutAPathIsNothing) {
  MinimumCut cut = CutOf(4, {{MinimumCut::kSource, 2, 5}, {3, MinimumCut::kSink, 5}});
  EXPECT_EQ(cut.Solve(), 0);
  EXPECT_TRUE(cut.IsWithSource(2));
  EXPECT_FALSE(cut.IsWithSource(3));
}

}  // namespace
}  // namespace weft::passes
