// The steps of layout.cc: rows, order in the rows, places.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/picture/layout/layout.h"

namespace weft::picture {

// Boxes, ports and the points at which wires pass a row; all are vertices, links lead one row down.
struct LayeredGraph {
  struct Vertex {
    int row = 0;
    float width = 0;
    bool passes = false;  // a point of a way
    float x = 0;
  };
  std::vector<Vertex> vertices;
  std::vector<std::vector<uint32_t>> above, below;  // neighbours by vertex
  std::vector<std::vector<uint32_t>> rows;          // vertices from left to right

  uint32_t Add(Vertex vertex);
  void Link(uint32_t upper, uint32_t lower);
};

// Which wires have to be turned so that there is no cycle: by wire.
std::vector<bool> TurnedWires(const LevelGraph& graph);
// Row of every box, from 0 on, such that every wire between boxes goes down, turned ones up.
std::vector<int> AssignRows(const LevelGraph& graph, const std::vector<bool>& turned);

// Orders `rows` for few crossings.
void OrderRows(LayeredGraph* graph);
// Sets x of every vertex in the order of the rows, which it keeps.
void PlaceVertices(LayeredGraph* graph);
size_t CountCrossings(const LayeredGraph& graph);

}  // namespace weft::picture
