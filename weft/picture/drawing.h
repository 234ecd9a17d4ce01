// Pictures for documents, of both graphs side by side, coloured as the page is.
#pragma once

#include <string>
#include <vector>

#include "weft/picture/levels.h"
#include "weft/picture/lineage.h"
#include "weft/picture/palette.h"

namespace weft::picture {

struct Side {
  std::string title;
  const FoldedGraph& folded;
  const std::vector<NodeLineage>& lineage;  // by node
};

// As the page shows them to begin with, with a legend of the rules that have colours in it.
std::string DrawSvg(const std::vector<Side>& sides, const Lineage& lineage);
// For Graphviz: all operations, groups as clusters.
std::string DrawDot(const std::vector<Side>& sides, const Lineage& lineage);

}  // namespace weft::picture
