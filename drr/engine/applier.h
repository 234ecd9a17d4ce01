// Applying a match as a transaction: the result is built, inferred and type-checked before anything
// is erased, at a point that all operands dominate and that dominates all users. When any of this
// fails the program is as before and the reason is reported.
#pragma once

#include <span>
#include <string>

#include "drr/rule/match_context.h"
#include "ir/rewriter.h"

namespace weft::drr {

// False when the rule declined; *reason (may be null) then says why. `erase_order` is the
// EraseOrder() of the rule's graph, which an engine keeps.
bool Apply(const MatchContext& match, std::span<const OpId> erase_order, ir::Rewriter& rewriter,
           std::string* reason);
bool Apply(const MatchContext& match, ir::Rewriter& rewriter, std::string* reason);

}  // namespace weft::drr
