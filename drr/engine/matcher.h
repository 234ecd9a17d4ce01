// Matching one rule at one operation, by backtracking over operand orders, alternatives and joins.
// The pattern is matched exactly: result numbers, equal handles, attributes, constraints, and no
// intermediate value with external uses (unless the rule keeps it or it is a constant).
// It understands every feature of the language, explains its failures, and never recurses deeper
// than the pattern is large. Work at one operation is bounded, whatever the program: past
// kMaxSteps, or kMaxJoinCandidates partners of a secondary root, the match is given up.
#pragma once

#include <deque>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "drr/rule/match_context.h"

namespace weft::drr {

enum class AttrFit : uint8_t;  // drr/engine/match_semantics.h

// Why a rule did not match: of all checks that failed, the one that came closest.
struct MatchFailure {
  size_t progress = 0;  // larger is closer: source ops bound first, then the kind of check
  std::string reason;
  // What the reason says, in parts, for drr/engine/explain.h; null or empty where a check has no
  // such part.
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
  static constexpr uint32_t kMaxSteps = 1 << 15;       // values compared with the pattern
  static constexpr size_t kMaxListElements = 1 << 21;  // of lists bound, the tries included
  static constexpr uint32_t kMaxJoinCandidates = 256;  // users of the right kind
  static constexpr uint32_t kMaxJoinUses = 1024;       // users of any kind

  explicit Matcher(const Rule& rule);

  // True when the rule's first root matches `op` (and so does everything else): *match tells how.
  // `failure` (may be null) receives the reason otherwise; asking for it costs formatting.
  bool Match(ir::Operation op, MatchContext* match, MatchFailure* failure = nullptr);

 private:
  // Value `pattern` must be `value`, made in `block` (or around it, if the pattern says so); goals
  // form a list. A list value must be the operands [begin, end) of `list_of`, or `elements`.
  struct Goal {
    ValueId pattern;
    ir::Value value;
    const Goal* next;
    ir::Block block;
    ir::Operation list_of{};
    uint32_t begin = 0, end = 0;
    const std::vector<ir::Value>* elements = nullptr;
  };
  struct Mark {
    size_t values, ops, attrs, skipped, terminators;
  };

  bool Solve(const Goal* goal);
  bool SolveValue(const Goal& goal);
  bool SolveEither(const Goal& goal, ValueId id);
  bool SolveProducer(const Goal& goal, ValueId id);
  bool SolveOp(OpId op, ir::Operation found, const Goal* rest, ir::Block block);
  bool SolveOperands(OpId op, ir::Operation found, bool swapped, const Goal* rest);
  bool SolveGoals(size_t first, const Goal* rest);  // goals_ from there on
  bool AddOperandGoals(const SourceOp& op, ir::Operation found, bool swapped, uint32_t first_list);
  bool AddRegionGoals(const SourceOp& op, ir::Operation found);
  // matcher_sequence.cc: what stands for several ops or values.
  bool SolveList(const Goal& goal, ValueId id);
  bool SolveEach(const Goal& goal, ValueId id, std::vector<ir::Value> elements);
  bool SolveChain(const Goal& goal, ValueId id);
  std::vector<ir::Operation> CollectChain(const SourceOp& op, ir::Value value, ir::Block block);
  bool SolveSkip(const Goal& goal, ValueId id);
  // matcher_checks.cc: what is seen at a glance, joins, and what a complete match must fulfil.
  // False when the defining op of `value` provably does not fit the pattern, without looking
  // further: that is most often so.
  bool Plausible(ValueId pattern, ir::Value value) const;
  // Whether what the rule asks of this value alone holds, as far as that is decided at a glance. (When the
  // reason is asked for, it is decided with the other constraints.)
  bool MayBe(ValueId id) const;
  // Of quick_, what does not hold of the value; null: nothing that can be asked yet.
  const Constraint* Refuting(ValueId id) const;
  // Of an op with two lists of operands: whether those between them may be what follows the first
  // `first_list`, at a glance.
  bool MayDivideLists(const SourceOp& op, ir::Operation found, uint32_t first_list);
  bool FailConstraint(const Constraint& constraint);
  bool SolveRemaining();
  bool FindJoin(OpId root, OpId* op, ValueId* via_value) const;
  bool Join(OpId op, ValueId via_value);
  bool Finish();
  bool NotsHold();
  bool IsMadeBy(ir::Value value, ValueId pattern);
  bool IndexOps();
  void AbsorbSkipped();
  bool NoEscapes();
  bool NoEscape(OpId op, ir::Operation found);
  bool MayBeErased(OpId op, ir::Operation found);

  bool MatchAttrs(const Alternative& alternative, ir::Operation found);
  bool FailAttr(const AttrPattern& pattern, AttrFit fit, ir::Operation found, ir::Attribute bound,
                ir::Attribute value);
  ir::Operation BinderOf(AttrId variable, ir::Operation found) const;
  // Index of the alternative `found` is (0 where any op will do), or -1.
  static int WhichAlternative(const SourceOp& op, ir::Operation found);
  bool InBlock(const SourceValue& pattern, ir::Operation found, ir::Block block) const;
  ValueId RootResult(OpId producer) const;
  bool IsShared(ir::Operation op) const;  // has no operands: programs share what is equal

  Mark Now() const {
    return {value_trail_.size(), op_trail_.size(), attr_trail_.size(), m_->skipped_.size(),
            m_->terminators_.size()};
  }
  void Undo(const Mark& mark);
  void BindValue(ValueId id, ir::Value value);
  void BindOp(OpId id, ir::Operation op, int alternative);
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
  const std::vector<OpId> root_producers_;
  std::vector<std::pair<ValueId, const Constraint*>> quick_;  // of one value each: MayBe()
  IdVector<SourceValue, bool> constants_;  // that such a constraint wants to be one
  MatchContext* m_ = nullptr;
  MatchFailure* failure_ = nullptr;
  bool probing_ = false;  // only the structure below one value matters: Not()
  ir::Block root_block_;
  uint32_t steps_ = 0;
  size_t list_elements_ = 0;
  std::deque<Goal> goals_;  // of the ops being matched, which keep their places
  std::vector<ValueId> value_trail_;
  std::vector<OpId> op_trail_;
  std::vector<AttrId> attr_trail_;
};

}  // namespace weft::drr
