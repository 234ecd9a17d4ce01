// A graph, folded and laid out: every group of it as a level of its own, in which closed groups are
// boxes. What shows them makes room for those that are open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/picture/groups.h"
#include "weft/picture/layout/layout.h"

namespace weft::picture {

struct Level {
  LevelGraph graph;  // a box per item of the group, in its order; values are nodes
  LevelLayout layout;
};

struct FoldedGraph {
  Graph graph;
  GroupTree tree;
  std::vector<Level> levels;  // by group
};

FoldedGraph Fold(Graph graph);

// The two lines of a node's box: "MatMul", "1x128x768".
std::string SecondLine(const Node& node);
// Of a box with these lines, in the page's fonts.
BoxSize SizeOf(std::string_view title, std::string_view second_line);

}  // namespace weft::picture
