// The greedy driver: applies a frozen set of rules to a program until none applies. Dead pure ops
// are erased on the way.
//
// Every operation is labelled once by the rules' tree automaton; only those in an accepting state
// are visited, and after a change only those whose labels, operands or users it touched (complete
// worklist, no re-sweeps). Work grows linearly with the program.
//
//   GreedyRewriteConfig config;
//   WEFT_ASSIGN_OR_RETURN(GreedyRewriteResult result,
//                         ApplyPatternsGreedily(program, frozen, config));
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "drr/engine/rule_set.h"
#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::passes {

class RewriteTrace;

struct GreedyRewriteConfig {
  // Which end of the program is looked at first. Bottom up finds the largest form of a pattern with
  // optional parts, because that ends furthest down.
  bool use_top_down_traversal = false;
  uint64_t max_rewrites = 0;           // 0: 100 + 20 per operation + 1 per operand at the start
  uint64_t max_rewrites_per_rule = 0;  // 0: no limit but max_rewrites
  bool verify_after_rewrite = false;   // slow; for tests
  // Times every rule and keeps the reasons why matches were declined, which takes a slower way.
  bool collect_statistics = false;
  // For tests, slow: after every rewrite the program is verified and must have changed; a rule that
  // declined must have left it as it was.
  bool paranoid = false;
  // Not 0: the worklist is taken in a random order that this number decides.
  uint64_t seed = 0;
  // For tests: results do not depend on it.
  drr::FastPath fast_path = drr::FastPath::kAll;
  // Starts ir::RecordOrigins(); of a program that records them they are told without this, too.
  bool record_rules = false;
  // Numbers the rewrites and may end them early, which takes a slower way; null: nobody asks.
  RewriteTrace* trace = nullptr;
};

struct RuleStatistics {
  std::string rule;
  uint64_t tried = 0;     // operations that the rule's structure may fit, by the automaton
  uint64_t matched = 0;   // source graph, constraints and escapes all fit
  uint64_t declined = 0;  // matched, but the result could not be put in place
  uint64_t applied = 0;
  uint64_t ops_erased = 0, ops_created = 0;  // by all applications together
  std::string last_decline;                  // why, the last time
  // With collect_statistics:
  double seconds = 0;
  std::vector<std::pair<std::string, uint64_t>> declines;  // reasons of all kinds, how often
};

struct GreedyRewriteResult {
  bool changed = false;
  std::vector<RuleStatistics> rules;  // in the order of the set, those that did nothing included
};

// InvalidArgument, and nothing done, when a rule of the set does not build (patterns.status()).
// Resource-exhausted when the limit is reached, naming the rules that were applied most, whether
// they undo each other or make the program grow, and where; the program is valid even then.
absl::StatusOr<GreedyRewriteResult> ApplyPatternsGreedily(
    ir::Program& program, const drr::FrozenRewritePatternSet& patterns,
    const GreedyRewriteConfig& config = {});

}  // namespace weft::passes
