// The way back from a program to the decisions that make it.
#pragma once

#include <optional>
#include <vector>

#include "drr/rule/match_context.h"
#include "drr/rule/rule.h"
#include "ir/program.h"
#include "passes/verify/assignment.h"

namespace weft::passes {

// The decisions with which an InstanceBuilder makes what a complete match is of, with numbers for sizes that are
// symbols. What a leaf is computed from is left out; so are skipped ops. Nothing where a leaf has no known rank,
// or more elements than programs are made with.
std::optional<Assignment> AssignmentOf(const drr::MatchContext& match);
// Of each match of the rule in a program.
std::vector<Assignment> AssignmentsOf(const drr::Rule& rule, ir::Program& program);

}  // namespace weft::passes
