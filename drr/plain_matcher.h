// Matching a plain rule (PatternGraph::IsPlain) by a straight list of steps over the program's
// arrays, without recursion or allocation. Finds what Matcher finds, in the same order; Matcher
// covers the whole language and says why a match fails.
#pragma once

#include <cstdint>
#include <vector>

#include "drr/match_context.h"
#include "ir/graph_view.h"

namespace weft::drr {

class PlainMatcher {
 public:
  static bool Supports(const Rule& rule);
  explicit PlainMatcher(const Rule& rule);  // of a supported rule, which it refers to

  // True when the rule matches with its root at `op`: then op(), value() and attr() tell how, and so
  // does *match, which was made for the rule, after Fill(). Constraints are asked through *match.
  bool Match(const ir::GraphView& view, uint32_t op, MatchContext* match);
  void Fill(MatchContext* match) const;

  uint32_t op(int id) const { return ops_[id]; }
  uint32_t value(int id) const { return values_[id]; }  // kNoId: an operand that is not given
  ir::Attribute attr(int id) const { return attrs_[id]; }
  int root_op() const { return root_op_; }
  const std::vector<int>& order() const { return order_; }  // in which ops are bound

 private:
  struct Step {  // an operand of a bound op must fit a value of the pattern
    int reader;
    uint32_t operand;
    int value;      // kAbsent: the operand must not be given
    int producer;   // the op to bind, where the pattern makes the value and it is met here first
    uint32_t result_index;  // of the producer
    bool bound;     // the value is bound by an earlier step
    bool optional;  // the operand may be absent
    bool may_swap;  // the first operands of the reader may be exchanged
  };
  struct OpPlan {
    const Alternative* only = nullptr;  // the alternative, where there is one
    uint32_t num_operands = 0;
    size_t first_step = 0;           // of its operands
    std::vector<int> earlier;        // ops bound before it
    std::vector<char> binds_first;   // by attribute pattern: its variable is met here first
    std::vector<int> results;        // values
    std::vector<uint32_t> max_uses;  // by result: kAnyUses when others may read it
    bool all_results_may_escape = false;
  };
  static constexpr uint32_t kAnyUses = UINT32_MAX;

  void PlanOp(int op);
  uint32_t UsesInside(int value) const;
  bool Bind(int op, uint32_t found);
  void BindFurtherResults(int op, uint32_t found);
  bool MatchAttrs(int op, const Alternative& alternative, ir::AttrDict attrs);
  bool Take(const Step& step);
  bool Escapes() const;
  bool EscapesFrom(uint32_t value) const;
  bool ConstraintsHold(MatchContext* match) const;

  const PatternGraph& graph_;
  int root_op_ = 0;
  int root_value_ = 0;
  std::vector<Step> steps_;
  std::vector<OpPlan> plans_;
  std::vector<int> order_;  // ops as they are bound
  std::vector<char> value_planned_, attr_planned_;
  // The match under way: numbers in the program by pattern op and value.
  const ir::GraphView* view_ = nullptr;
  uint32_t block_ = 0;
  std::vector<uint32_t> ops_, values_;
  std::vector<const ir::internal::OpRecord*> records_;
  std::vector<char> swapped_;
  std::vector<const Alternative*> alternatives_;
  std::vector<ir::Attribute> attrs_;
  std::vector<int> choices_;  // commutative ops whose other operand order is still to be tried
};

}  // namespace weft::drr
