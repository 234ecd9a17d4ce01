// Alternatives of a source that are never reached, because one before them takes all that they take.
#pragma once

#include "drr/rule/pattern_graph.h"

namespace weft::passes {

// Whether a match takes an alternative before it wherever it could take the one that `op` makes, and takes no
// later one where it took that when `op` was a `before`. False where it cannot be told.
bool IsShadowed(const drr::PatternGraph& graph, drr::OpId op, const ir::OpDef& before);

}  // namespace weft::passes
