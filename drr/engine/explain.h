// Why a rule does not apply, or where it does: for `ir-opt --explain` and for tests of rules.
//
//   Explanation e = ExplainNearest(rule, program);   // the site where it comes furthest
//   EXPECT_EQ(e.outcome, Explanation::kRefused);
//   EXPECT_EQ(e.failure.reason, "does not hold: w is a constant matrix");
//   std::cerr << ToString(e);                        // the same for people, with the operations
//
// Nothing here changes the program: what a match would make is tried on a copy. Time and memory are
// those of a match at every operation and one copy of the program.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "drr/engine/matcher.h"

namespace weft::drr {

struct Explanation {
  enum Outcome {
    kApplies,  // at every op of `sites`, as far as each is looked at alone
    kRefused,  // `failure` is the first check that failed, at `site`
    kNoSite,   // no operation that was looked at can be the one where matching starts
  };
  Outcome outcome = kNoSite;
  const Rule* rule = nullptr;
  ir::Operation site;  // where matching starts; kNoSite: the one op looked at, if it was one
  MatchFailure failure;
  std::vector<ir::Operation> sites;  // kApplies; in program order
};

// At `op` alone.
Explanation ExplainAt(const Rule& rule, ir::Operation op);
// At the defining op of `value` or, when the rule does not start at such an op, at the transitive
// user where matching gets furthest, at most as many uses away as the rule has ops.
Explanation ExplainValue(const Rule& rule, ir::Value value);
// At the op of the whole program where the rule comes furthest, the first of equals.
Explanation ExplainNearest(const Rule& rule, ir::Program& program);

// Several lines that end in a newline: the outcome, the operations as the program prints them with
// their locations, expected against found, the users of a value, and what the rule's tensors are.
std::string ToString(const Explanation& explanation);

// The same in parts, for programs; what there is nothing to say of is empty.
struct ExplanationParts {
  std::vector<std::string> sites;  // where it applies, or the one where it was refused
  size_t ops_found = 0, ops_of_rule = 0;
  std::string because, expected, found, in, value, read_by, rule_line;
  std::vector<std::pair<std::string, std::string>> where;  // the rule's values
};
ExplanationParts PartsOf(const Explanation& explanation);

}  // namespace weft::drr
