// Matching a plain rule (PatternGraph::IsPlain) by a straight list of steps over the program's
// arrays, without recursion or allocation. Finds what Matcher finds, in the same order; Matcher
// covers the whole language and says why a match fails.
#pragma once

#include <cstdint>
#include <vector>

#include "drr/match_context.h"
#include "ir/graph_view.h"

namespace weft::drr {

// The match under way, in numbers of the program. The matchers of a set share one, so that it stays
// in the cache: it belongs to the one that matched last.
struct PlainMatch {
  struct Op {
    uint32_t op = ir::kNoId;
    const ir::internal::OpRecord* record = nullptr;
    const Alternative* alternative = nullptr;
    bool swapped = false;  // its first two operands are exchanged
  };
  std::vector<Op> ops;               // in the order they are bound: the root first
  std::vector<uint32_t> values;      // by pattern value; kNoId: an operand that is not given
  std::vector<ir::Attribute> attrs;  // by attribute variable
  std::vector<int> choices;  // commutative ops whose other operand order is still to be tried
};

class PlainMatcher {
 public:
  static bool Supports(const Rule& rule);
  // Of a supported rule, which it refers to, as it does to `match`.
  PlainMatcher(const Rule& rule, PlainMatch* match);

  // True when the rule matches with its root at `op`: then the PlainMatch tells how, and so does
  // *context, which was made for the rule, after Fill(). Constraints are asked through *context.
  bool Match(const ir::GraphView& view, uint32_t op, MatchContext* context);
  void Fill(MatchContext* context) const;

  // The place of an op of the pattern in PlainMatch::ops.
  int PlaceOf(int pattern_op) const { return places_[pattern_op]; }
  int OpAt(int place) const { return plans_[place].op; }
  int num_ops() const { return static_cast<int>(plans_.size()); }

 private:
  struct Step {  // an operand of a bound op must fit a value of the pattern
    int reader;  // a place, as all ops here
    uint32_t operand;
    int value;              // kAbsent: the operand must not be given
    int producer;           // the op to bind, where the pattern makes the value and it is met first
    uint32_t result_index;  // of the producer
    bool bound;             // the value is bound by an earlier step
    bool optional;          // the operand may be absent
    bool may_swap;          // the first operands of the reader may be exchanged
  };
  struct OpPlan {
    const Alternative* only = nullptr;  // the alternative, where there is one
    int op = 0;                         // of the pattern
    uint32_t num_operands = 0;
    uint32_t first_step = 0;        // of its operands
    int result = 0;                 // value of result 0
    uint32_t max_uses = 0;          // of result 0; kAnyUses when others may read it
    bool more_results = false;      // the pattern names several
    std::vector<char> binds_first;  // by attribute pattern: its variable is met here first
  };
  static constexpr uint32_t kAnyUses = UINT32_MAX;

  void PlanOp(int op);
  uint32_t UsesInside(int value) const;
  bool Bind(int place, uint32_t found);
  void BindFurtherResults(int place, uint32_t found);
  bool MatchAttrs(int place, const Alternative& alternative, ir::AttrDict attrs);
  bool Take(const Step& step);
  bool Escapes() const;
  bool FurtherResultsEscape(int place) const;
  bool EscapesFrom(uint32_t value) const;
  bool ConstraintsHold(MatchContext* context) const;

  const PatternGraph& graph_;
  PlainMatch& match_;
  std::vector<Step> steps_;
  std::vector<OpPlan> plans_;
  std::vector<int> places_;  // by op of the pattern
  int root_value_ = 0;
  std::vector<char> value_planned_, attr_planned_;
  const ir::GraphView* view_ = nullptr;
  uint32_t block_ = 0;
};

}  // namespace weft::drr
