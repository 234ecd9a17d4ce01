// Matching one rule at one operation, by backtracking over operand orders, alternatives and joins.
// The pattern is matched exactly: result numbers, equal handles, attributes, constraints, and no
// intermediate value read from outside the match (unless the rule keeps it or it is a constant).
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "drr/match_context.h"

namespace weft::drr {

// Why a rule did not match: of all checks that failed, the one that came closest.
struct MatchFailure {
  size_t progress = 0;  // larger is closer: source ops bound first, then the kind of check
  std::string reason;
  // What the reason says, in parts, for drr/explain.h; null or empty where a check has no such
  // part.
  std::string expected, found;
  ir::Operation op;                                      // that was looked at
  ir::Value value;                                       // likewise
  ir::Operation user;                                    // reads `value` from outside the match
  SourceLoc loc;                                         // the line of the rule that wants it
  size_t ops_bound = 0;                                  // source ops that had been found by then
  std::vector<std::pair<std::string, ir::Value>> bound;  // the rule's named values, likewise
};

class Matcher {
 public:
  explicit Matcher(const Rule& rule) : rule_(rule), graph_(rule.graph) {}

  // True when the rule's first root matches `op` (and so does everything else): *match tells how.
  // `failure` (may be null) receives the reason otherwise; asking for it costs formatting.
  bool Match(ir::Operation op, MatchContext* match, MatchFailure* failure = nullptr);

 private:
  struct Goal {  // value `pattern` must be `value`; goals form a list
    int pattern;
    ir::Value value;
    const Goal* next;
  };
  struct Mark {
    size_t values, ops, attrs;
  };

  bool Solve(const Goal* goal);
  bool SolveValue(const Goal& goal);
  bool SolveOp(int op, ir::Operation found, const Goal* rest);
  bool SolveOperands(int op, ir::Operation found, bool swapped, const Goal* rest);
  bool SolveRemaining();
  bool Finish();
  bool MatchAttrs(const Alternative& alternative, ir::Operation found);
  bool NoEscapes();
  int RootResult(int producer) const;
  int UnboundRoot(int* via_value, int* via_operand) const;

  Mark Now() const { return {value_trail_.size(), op_trail_.size(), attr_trail_.size()}; }
  void Undo(const Mark& mark);
  void BindValue(int id, ir::Value value);
  // From an op of another name to a constraint of a complete match.
  enum Check : size_t { kStructure, kAttribute, kEscape, kConstraint, kNumChecks };
  // Of equally close failures the first is kept: it is of the operand order the rule is written in.
  // `reason` gives the text; one that takes a MatchFailure fills in the parts as well.
  template <class F>
  bool Fail(F&& reason, Check check = kStructure) {
    const size_t progress = op_trail_.size() * kNumChecks + check;
    if (failure_ && (progress > failure_->progress || failure_->reason.empty())) {
      MatchFailure failure = NewFailure(progress);
      if constexpr (std::is_invocable_v<F, MatchFailure&>) {
        failure.reason = reason(failure);
      } else {
        failure.reason = reason();
      }
      *failure_ = std::move(failure);
    }
    return false;
  }
  MatchFailure NewFailure(size_t progress) const;  // with what is bound

  const Rule& rule_;
  const PatternGraph& graph_;
  MatchContext* m_ = nullptr;
  MatchFailure* failure_ = nullptr;
  ir::Operation anchor_;  // matching stays in its block, but for constants
  std::vector<int> value_trail_, op_trail_, attr_trail_;
};

}  // namespace weft::drr
