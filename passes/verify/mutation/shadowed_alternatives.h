// Alternatives of a source that say what another does.
#pragma once

#include "drr/rule/pattern_graph.h"

namespace weft::passes {

// Never reached: whether a match takes an alternative before it wherever it could take the one that `op` makes, and
// takes no later one where it took that when `op` was a `before`. False where it cannot be told.
bool IsShadowed(const drr::PatternGraph& graph, drr::OpId op, const ir::OpDef& before);
// Whether the op makes what another alternative of its value is, of real numbers: x + 0, say, of x.
bool MakesAnother(const drr::PatternGraph& graph, drr::OpId op);

}  // namespace weft::passes
