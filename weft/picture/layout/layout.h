// Layered drawing of one level of a graph: boxes in rows, wires downwards (Sugiyama, Tagawa and Toda,
// IEEE SMC 11(2), 1981).
//
//   LevelGraph level;
//   level.boxes = {{80, 40}, {120, 40}};
//   level.wires = {{.value = 7, .from = 0, .to = 1}};
//   const LevelLayout layout = LayOut(level);   // layout.boxes[1].row == 1
//
// Cycles are broken by wires that go up. Rows are those of the longest path, sources moved down to
// their first reader; the order in a row has few crossings (barycentres, the best of eight sweeps);
// places in a row are the least squares of the distances to medians of neighbours that keep boxes apart
// (pool adjacent violators). Wires of one value share their way. Time is that of sorting, times a constant;
// ways that would be too long for it all together are left out, and their wires are called far.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::picture {

inline constexpr float kBoxGap = 24;   // between boxes of a row
inline constexpr float kWayWidth = 6;  // of a wire that passes a row

struct BoxSize {
  float width = 0, height = 0;  // pixels
};

// From a box to a box that reads one value of it; kOutside: from or to what surrounds the level.
struct Wire {
  static constexpr int kOutside = -1;
  uint32_t value = 0;  // known to the caller; all wires of a value have one `from`
  int from = kOutside, to = kOutside;
};

struct LevelGraph {
  std::vector<BoxSize> boxes;
  std::vector<Wire> wires;
};

struct PlacedBox {
  int row = 0;
  float x = 0;  // of its centre
};

// Where wires of one value pass the rows between their ends.
struct Way {
  int first_row = 0;
  std::vector<float> x;  // by row from first_row on
};

struct RoutedWire {
  int way = -1;     // the wire uses it up to the row above its lower end; -1: it passes no row
  bool up = false;  // it goes from its lower end to its upper one
  bool far = false;
};

// The place of an outside value at the upper or lower rim.
struct Port {
  uint32_t value = 0;
  float x = 0;
};

struct LevelLayout {
  std::vector<PlacedBox> boxes;
  std::vector<float> row_heights;  // of the highest box; 0 of rows of ports
  std::vector<Way> ways;
  std::vector<RoutedWire> wires;  // as those of the graph
  std::vector<Port> inputs, outputs;
};

// x of boxes begins at 0. The same graph gives the same layout.
LevelLayout LayOut(const LevelGraph& graph);

}  // namespace weft::picture
