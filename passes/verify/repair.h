// Changes an assignment so that a named constraint is more likely to hold: what each word of the
// vocabulary says of types, constants and attributes, turned into a decision. Of what an op computes,
// the leaves below it are changed.
#pragma once

#include "drr/rule/match_context.h"
#include "passes/verify/assignment.h"

namespace weft::passes {

// `match`: of the structure alone, on the instance of the assignment. False where nothing is known to
// help: native code, or leaves that the constraint does not reach.
bool Repair(const drr::Formula& formula, const drr::MatchContext& match, Draw& draw,
            Assignment* assignment);

}  // namespace weft::passes
