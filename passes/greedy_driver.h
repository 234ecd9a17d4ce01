// The greedy driver: applies a frozen set of rules to a program until none applies, with a worklist
// (no re-sweeps). Dead pure ops go on the way.
//
//   GreedyRewriteConfig config;
//   WEFT_ASSIGN_OR_RETURN(GreedyRewriteResult result, ApplyPatternsGreedily(program, frozen,
//   config));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drr/pattern_set.h"
#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::passes {

struct GreedyRewriteConfig {
  // Which end of the program is looked at first. Bottom up finds the largest form of a pattern with
  // optional parts, because that ends furthest down.
  bool use_top_down_traversal = false;
  uint64_t max_rewrites = 0;           // 0: 100 + 20 per operation the program starts with
  uint64_t max_rewrites_per_rule = 0;  // 0: no limit but max_rewrites
  bool verify_after_rewrite = false;   // slow; for tests
  // Adds " <- rule" to the location of every operation that a rule makes, for profiles.
  bool record_rules = false;
};

struct RuleStatistics {
  std::string rule;
  uint64_t tried = 0;     // operations the rule could start at
  uint64_t matched = 0;   // source graph, constraints and escapes all fit
  uint64_t declined = 0;  // matched, but the result could not be put in place
  uint64_t applied = 0;
  uint64_t ops_erased = 0, ops_created = 0;  // by all applications together
  double seconds = 0;
  std::string last_decline;  // why, the last time
};

struct GreedyRewriteResult {
  bool changed = false;
  std::vector<RuleStatistics> rules;  // in the order of the set, those that did nothing included
};

// Resource-exhausted, naming the rules that were applied most, when the limit is reached; the
// program is valid even then.
absl::StatusOr<GreedyRewriteResult> ApplyPatternsGreedily(
    ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
    const GreedyRewriteConfig& config = {});

}  // namespace weft::passes
