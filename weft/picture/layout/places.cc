// Places in the rows.
#include <algorithm>

#include "weft/picture/layout/layered_graph.h"

namespace weft::picture {
namespace {

constexpr int kRounds = 12;
constexpr float kStraightness = 8;  // how much more a way counts than a box

float Distance(const LayeredGraph::Vertex& left, const LayeredGraph::Vertex& right) {
  const float gap = left.passes && right.passes ? kBoxGap / 3 : kBoxGap;
  return (left.width + right.width) / 2 + (left.passes != right.passes ? kBoxGap / 2 : gap);
}

// Vertices that stand as close as they may, as one.
struct Pool {
  double weight, sum;  // sum: weighted, of where the first one would want to be
  size_t count;
  double mean() const { return sum / weight; }
};

// The least squares of the distances to `wanted` (by place in the row) that keep the vertices apart.
void PlaceRow(const std::vector<uint32_t>& row, const std::vector<float>& wanted,
              LayeredGraph* graph) {
  std::vector<double> offsets(row.size());
  std::vector<Pool> pools;
  for (size_t i = 0; i < row.size(); ++i) {
    const LayeredGraph::Vertex& vertex = graph->vertices[row[i]];
    if (i > 0) offsets[i] = offsets[i - 1] + Distance(graph->vertices[row[i - 1]], vertex);
    const double weight = vertex.passes ? kStraightness : 1;
    pools.push_back({weight, weight * (wanted[i] - offsets[i]), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().weight += last.weight;
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  size_t i = 0;
  for (const Pool& pool : pools)
    for (size_t end = i + pool.count; i < end; ++i)
      graph->vertices[row[i]].x = static_cast<float>(pool.mean() + offsets[i]);
}

enum class Look { kUp, kDown, kBoth };

// The place nearest to where the vertex is that is a median of its neighbours: wires get straight, where
// a mean would have them all slant.
float Wanted(const LayeredGraph& graph, uint32_t vertex, Look look, std::vector<float>* places) {
  places->clear();
  const auto add = [&](const std::vector<uint32_t>& neighbours) {
    for (const uint32_t other : neighbours) places->push_back(graph.vertices[other].x);
  };
  if (look != Look::kDown) add(graph.above[vertex]);
  if (look != Look::kUp) add(graph.below[vertex]);
  const float x = graph.vertices[vertex].x;
  if (places->empty()) return x;
  std::sort(places->begin(), places->end());
  return std::clamp(x, (*places)[(places->size() - 1) / 2], (*places)[places->size() / 2]);
}

void Place(size_t row, Look look, LayeredGraph* graph) {
  std::vector<float> wanted, places;
  for (const uint32_t vertex : graph->rows[row])
    wanted.push_back(Wanted(*graph, vertex, look, &places));
  PlaceRow(graph->rows[row], wanted, graph);
}

}  // namespace

void PlaceVertices(LayeredGraph* graph) {
  for (const auto& row : graph->rows) PlaceRow(row, std::vector<float>(row.size()), graph);
  const size_t rows = graph->rows.size();
  for (int round = 0; round < kRounds; ++round) {
    const bool last = round + 2 >= kRounds;
    for (size_t i = 0; i < rows; ++i) Place(i, last ? Look::kBoth : Look::kUp, graph);
    for (size_t i = rows; i > 0; --i) Place(i - 1, last ? Look::kBoth : Look::kDown, graph);
  }
}

}  // namespace weft::picture
