// Whether a match computes what its rule would put in its place. Ops of the result that have a
// reference body (ir::OpDef::decompose) stand for that body; attributes that the rule leaves open
// are found by trying what the match offers: its constants, its attributes, the op's default and
// enumerators. A rule whose pattern checks no constant is made safe by this.
#pragma once

#include <string>
#include <vector>

#include "drr/rule/match_context.h"

namespace weft::drr::text {

struct BodySolution {
  bool proved = false;
  // As ResultOp::attrs; null where one is not open.
  IdVector<ResultOp, std::vector<ir::Attribute>> attrs;
  std::string why;  // when it is not proved
};
// Remembered in match.memo(). Work at one op is bounded: past that nothing is proved.
BodySolution SolveBodies(const MatchContext& match);

// Whether any op of the result has a body.
bool HasBody(const PatternGraph& graph);

}  // namespace weft::drr::text
