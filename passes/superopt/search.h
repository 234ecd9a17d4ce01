// A cost-based search over programs, as TASO's (Jia and others, SOSP 2019): from the cheapest
// program in a queue every rule is tried at every operation, and what is new and not much more
// expensive than the best so far is kept. Rules may make a program more expensive on the way to a
// cheaper one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drr/engine/rule_set.h"
#include "ir/base/status.h"
#include "ir/program.h"
#include "passes/superopt/cost_model.h"

namespace weft::passes {

struct SearchProgress {
  uint64_t expanded = 0;    // programs taken from the queue
  uint64_t candidates = 0;  // programs that a rule made
  size_t queued = 0;
  double first_cost = 0, best_cost = 0;  // seconds
  double seconds_left = 0;
};

struct SearchOptions {
  CostModel* cost = nullptr;  // null: analytic
  int budget = 1000;          // programs that are taken from the queue
  double seconds = 60;        // of wall time
  // A program is kept when it costs less than this times the best so far: 1 is greedy.
  double alpha = 1.05;
  // The cost must fall by this part for the result to be used.
  double least_gain = 0;
  // With a seed, which rule is tried where is drawn at random: kDraws at a time, and what is left
  // when the program is the cheapest again. The same seed gives the same search, if time allows.
  std::optional<uint64_t> seed = {};
  static constexpr size_t kDraws = 32;

  std::function<bool()> stop = {};                           // asked often; true ends the search
  std::function<void(const SearchProgress&)> progress = {};  // called often
  std::function<void(std::string_view)> warn = {};           // why the program stays as it is
};

// A rewrite: rule `rule` of the set at the operation that ir::Walk visits as number `site`.
struct SearchStep {
  uint32_t rule = 0, site = 0;
};

struct SearchResult {
  std::vector<SearchStep> steps;         // that lead to the best program; none: the one given
  std::unique_ptr<ir::Program> program;  // the best
  SearchProgress progress;
};

// Applies one step to `program` and merges equal operations; false, and nothing changed, when it
// does not fit.
bool ApplyStep(const drr::FrozenRewritePatternSet& rules, SearchStep step, ir::Program& program);

// `folds`: see ProgramCost. An error when the cost of the program given is not known.
absl::StatusOr<SearchResult> SearchPrograms(const ir::Program& program,
                                            const drr::FrozenRewritePatternSet& rules,
                                            const SearchOptions& options, bool folds);

}  // namespace weft::passes
