// The colours of rules, in the page and in static pictures.
#pragma once

#include <string>
#include <vector>

#include "weft/picture/lineage.h"

namespace weft::picture {

struct RuleColour {
  size_t rank = 0;       // by operations of the graph before that it rewrote
  int hue = 0;           // degrees
  bool is_pale = false;  // the hue is taken by a rule of a higher rank
};

// By label.
std::vector<RuleColour> ColoursOf(const Lineage& lineage);

// "#rrggbb" for light backgrounds: of boxes, and of their rims.
std::string FillOf(const RuleColour& colour);
std::string LineOf(const RuleColour& colour);

}  // namespace weft::picture
