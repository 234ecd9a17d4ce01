// What of a pattern reads what: how far above a changed op its change may matter to a match.
#pragma once

#include <cstdint>

#include "drr/rule/pattern_graph.h"

namespace weft::drr {

// For each op, how many operands of a match may use a result of it: 0 when the pattern uses none,
// TreeAutomaton::kAnyUses where it has lists. A value that the pattern leaves open may be that result as well, so
// every operand counts.
using PatternUses = IdVector<SourceOp, uint32_t>;
PatternUses UsesInside(const PatternGraph& graph);

// Whether such an op stands in an exclusion alone, and what it reads is left open: then no change of it, or
// below it, makes a difference that its users do not see.
bool IsShallowExclusion(const PatternGraph& graph, OpId op, const PatternUses& uses);

// The ops that are a first root and nothing else: no user of theirs is part of a match.
IdVector<SourceOp, bool> TopOps(const PatternGraph& graph);

// Whether every result of `op`, or some, may have external uses.
struct Keeping {
  bool all = true, some = false;
};
Keeping KeepsResults(const PatternGraph& graph, OpId op);

}  // namespace weft::drr
