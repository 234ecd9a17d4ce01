// The tree by which a graph is folded: scopes of names ("/encoder/layer.0/..."), regions of
// operations, runs of alike siblings, and sequences that repeat where names tell nothing.
//
//   const GroupTree tree = GroupNodes(graph);
//   tree.groups[0]                     // the whole; the others after what holds them
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/picture/graph.h"

namespace weft::picture {

// A node, or a group by -1 - its number.
using Item = int;
inline constexpr Item ItemOfGroup(int group) { return -1 - group; }
inline constexpr int GroupOfItem(Item item) { return -1 - item; }
inline constexpr bool IsGroup(Item item) { return item < 0; }

struct Group {
  enum Kind : uint8_t {
    kScope,    // of names; the whole
    kHolder,   // an operation with regions, and what these hold
    kRegion,   // one of several of an operation
    kBlock,    // one repetition of a sequence
    kRepeats,  // siblings that are alike, put into one group; it has no part in paths
  };
  Kind kind = kScope;
  int parent = -1;
  int node = -1;  // of kHolder
  std::string name;
  std::string path;         // the same in other graphs of the model, unique within one
  std::vector<Item> items;  // in the order of the program
  uint32_t operations = 0;  // below it
  bool alike = false;       // its items are groups of one structure
  bool open = false;        // to begin with
};

struct GroupTree {
  std::vector<Group> groups;
  std::vector<int> group_of_node;  // that holds it; of kHolder nodes, the group around it
};

// How many boxes are to be seen to begin with, at most, but for those of the whole itself.
inline constexpr size_t kFirstBoxes = 60;

GroupTree GroupNodes(const Graph& graph);

// "encoder", "layer.0" of "/encoder/layer.0/MatMul"; none of a place that is a file and a line.
std::vector<std::string> ScopesOf(std::string_view place);

}  // namespace weft::picture
