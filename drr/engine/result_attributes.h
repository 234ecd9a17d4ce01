// The attributes of an operation that a rule creates.
#pragma once

#include <string>

#include "drr/rule/match_context.h"

namespace weft::drr {

// Those copied from a matched op, then the rule's own: literals, variables and functions of the
// match. False when a function declines; *reason then says which and why. *pure (may be null):
// whether they follow from attribute variables and the attributes copied alone.
bool ResultAttributes(const ResultOp& op, const MatchContext& match, ir::AttrDict* dict,
                      std::string* reason, bool* pure = nullptr);

// How many operands stay when all optional ones at the end are absent.
size_t MinOperands(const ir::OpDef& def);

}  // namespace weft::drr
