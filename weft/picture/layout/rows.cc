// Breaking cycles, and the row of every box.
#include <algorithm>
#include <limits>

#include "weft/picture/layout/layered_graph.h"

namespace weft::picture {
namespace {

bool IsInside(const Wire& wire) {
  return wire.from != Wire::kOutside && wire.to != Wire::kOutside && wire.from != wire.to;
}

// Wires between boxes by the box they start from.
std::vector<std::vector<uint32_t>> WiresFrom(const LevelGraph& graph) {
  std::vector<std::vector<uint32_t>> from(graph.boxes.size());
  for (uint32_t i = 0; i < graph.wires.size(); ++i)
    if (IsInside(graph.wires[i])) from[graph.wires[i].from].push_back(i);
  return from;
}

}  // namespace

// Those that lead back to a box that a depth-first search is still in.
std::vector<bool> TurnedWires(const LevelGraph& graph) {
  const auto from = WiresFrom(graph);
  std::vector<bool> turned(graph.wires.size());
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(graph.boxes.size(), kNew);
  std::vector<std::pair<uint32_t, size_t>> stack;  // a box, and how many of its wires were followed
  for (uint32_t start = 0; start < graph.boxes.size(); ++start) {
    if (state[start] != kNew) continue;
    state[start] = kOpen;
    stack.emplace_back(start, 0);
    while (!stack.empty()) {
      const uint32_t box = stack.back().first;
      if (stack.back().second == from[box].size()) {
        state[box] = kDone;
        stack.pop_back();
        continue;
      }
      const uint32_t wire = from[box][stack.back().second++];
      const uint32_t to = static_cast<uint32_t>(graph.wires[wire].to);
      turned[wire] = state[to] == kOpen;
      if (state[to] != kNew) continue;
      state[to] = kOpen;
      stack.emplace_back(to, 0);
    }
  }
  return turned;
}

std::vector<int> AssignRows(const LevelGraph& graph, const std::vector<bool>& turned) {
  const size_t count = graph.boxes.size();
  std::vector<std::vector<uint32_t>> below(count);
  std::vector<uint32_t> missing(count);  // boxes above that have no row yet
  std::vector<bool> is_source(count, true);
  for (size_t i = 0; i < graph.wires.size(); ++i) {
    const Wire& wire = graph.wires[i];
    if (wire.to != Wire::kOutside && wire.from == Wire::kOutside) is_source[wire.to] = false;
    if (!IsInside(wire)) continue;
    const int upper = turned[i] ? wire.to : wire.from, lower = turned[i] ? wire.from : wire.to;
    below[upper].push_back(static_cast<uint32_t>(lower));
    ++missing[lower];
    is_source[lower] = false;
  }
  std::vector<int> rows(count);
  std::vector<uint32_t> order;
  for (uint32_t box = 0; box < count; ++box)
    if (missing[box] == 0) order.push_back(box);
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t lower : below[order[i]]) {
      rows[lower] = std::max(rows[lower], rows[order[i]] + 1);
      if (--missing[lower] == 0) order.push_back(lower);
    }
  }
  // What nothing stands above of moves down to its first reader.
  for (uint32_t box = 0; box < count; ++box) {
    if (!is_source[box] || below[box].empty()) continue;
    int first = std::numeric_limits<int>::max();
    for (const uint32_t lower : below[box]) first = std::min(first, rows[lower]);
    rows[box] = first - 1;
  }
  return rows;
}

}  // namespace weft::picture
