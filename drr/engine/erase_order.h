// In which order an application erases what it matched. Both appliers follow it, so that a program is
// left the same and the driver goes on the same, whichever of them a rule is applied by.
#pragma once

#include <vector>

#include "drr/rule/pattern_graph.h"

namespace weft::drr {

// All ops of the pattern, one after those that read it; the root first where there is one only.
std::vector<OpId> EraseOrder(const PatternGraph& graph);

}  // namespace weft::drr
