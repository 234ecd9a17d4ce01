// The order in the rows.
#include <algorithm>
#include <numeric>

#include "weft/picture/layout/layered_graph.h"

namespace weft::picture {
namespace {

constexpr int kSweeps = 8;

using Positions = std::vector<uint32_t>;  // in its row, by vertex

void NumberRow(const std::vector<uint32_t>& row, Positions* positions) {
  for (uint32_t i = 0; i < row.size(); ++i) (*positions)[row[i]] = i;
}

// By the mean position of the neighbours in the row that was ordered before; those without any stay.
void OrderRow(const std::vector<std::vector<uint32_t>>& neighbours, std::vector<uint32_t>* row,
              Positions* positions, std::vector<double>* keys) {
  for (const uint32_t vertex : *row) {
    double sum = 0;
    for (const uint32_t other : neighbours[vertex]) sum += (*positions)[other];
    (*keys)[vertex] = neighbours[vertex].empty()
                          ? (*positions)[vertex]
                          : sum / static_cast<double>(neighbours[vertex].size());
  }
  std::stable_sort(row->begin(), row->end(),
                   [&](uint32_t a, uint32_t b) { return (*keys)[a] < (*keys)[b]; });
  NumberRow(*row, positions);
}

// Of links between a row and the next: inversions, by a Fenwick tree over the lower positions.
size_t CrossingsBelow(const LayeredGraph& graph, size_t row, const Positions& positions) {
  std::vector<uint32_t> tree(graph.rows[row + 1].size() + 1), ends;
  size_t crossings = 0, seen = 0;
  for (const uint32_t vertex : graph.rows[row]) {
    ends.clear();
    for (const uint32_t lower : graph.below[vertex]) ends.push_back(positions[lower]);
    for (const uint32_t end : ends) {
      size_t not_right = 0;
      for (size_t i = end + 1; i > 0; i -= i & (~i + 1)) not_right += tree[i];
      crossings += seen - not_right;
    }
    for (const uint32_t end : ends)
      for (size_t i = end + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
    seen += ends.size();
  }
  return crossings;
}

size_t CountAll(const LayeredGraph& graph, const Positions& positions) {
  size_t crossings = 0;
  for (size_t row = 0; row + 1 < graph.rows.size(); ++row)
    crossings += CrossingsBelow(graph, row, positions);
  return crossings;
}

}  // namespace

uint32_t LayeredGraph::Add(Vertex vertex) {
  vertices.push_back(vertex);
  above.emplace_back();
  below.emplace_back();
  return static_cast<uint32_t>(vertices.size() - 1);
}

void LayeredGraph::Link(uint32_t upper, uint32_t lower) {
  below[upper].push_back(lower);
  above[lower].push_back(upper);
}

size_t CountCrossings(const LayeredGraph& graph) {
  Positions positions(graph.vertices.size());
  for (const auto& row : graph.rows) NumberRow(row, &positions);
  return CountAll(graph, positions);
}

void OrderRows(LayeredGraph* graph) {
  auto& rows = graph->rows;
  Positions positions(graph->vertices.size());
  for (const auto& row : rows) NumberRow(row, &positions);
  std::vector<double> keys(graph->vertices.size());
  std::vector<std::vector<uint32_t>> best = rows;
  size_t fewest = CountAll(*graph, positions);
  for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
    if (sweep % 2 == 0) {
      for (size_t i = 1; i < rows.size(); ++i) OrderRow(graph->above, &rows[i], &positions, &keys);
    } else {
      for (size_t i = rows.size() - 1; i > 0; --i)
        OrderRow(graph->below, &rows[i - 1], &positions, &keys);
    }
    const size_t crossings = CountAll(*graph, positions);
    if (crossings >= fewest) continue;
    fewest = crossings;
    best = rows;
  }
  rows = std::move(best);
}

}  // namespace weft::picture
