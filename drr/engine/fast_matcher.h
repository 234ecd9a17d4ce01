// Matching a plain rule (PatternGraph::IsPlain) by a straight list of steps over the program's
// arrays, without recursion or allocation. Finds what Matcher finds, in the same order; Matcher
// covers the whole language and says why a match fails.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "drr/rule/match_context.h"
#include "ir/graph_view.h"

namespace weft::drr {

// Scratch state of the current match, as ids of ops and values. Shared by all engines of a set, so
// that it stays in the cache; valid until the next Match().
struct PlainMatch {
  struct Op {
    uint32_t op = ir::kNoId;
    const ir::internal::OpRecord* record = nullptr;
    const Alternative* alternative = nullptr;
    bool swapped = false;  // its first two operands are exchanged
  };
  std::vector<Op> ops;                     // in the order they are bound: the root first
  IdVector<SourceValue, uint32_t> values;  // kNoId: an operand that is not given
  IdVector<AttrVariable, ir::Attribute> attrs;
  std::vector<int> choices;  // commutative ops whose other operand order is still to be tried
  const ir::GraphView* view = nullptr;
  uint32_t block = 0;
  uint32_t flags = 0;     // of all bound ops
  uint32_t rejected = 0;  // complete matches that a constraint refused
  // Of the application: new values by result value, operands of the op under construction, ops to
  // erase, and new ops.
  IdVector<ResultValue, uint32_t> results;
  std::vector<uint32_t> operands, erased;
  std::vector<ir::Operation> created;
};

class PlainMatcher {
 public:
  // Operand orders that are tried at one op, beyond the first; past these the match is given up.
  static constexpr uint32_t kMaxBacktracks = 1 << 15;

  static bool Supports(const Rule& rule);
  // Of a supported rule, which it refers to, as it does to `match`.
  PlainMatcher(const Rule& rule, PlainMatch* match);

  // True when the rule matches with its root at `op`: then the PlainMatch tells how, and so does
  // *context, which was made for the rule, after Fill(). Constraints are asked through *context.
  bool Match(const ir::GraphView& view, uint32_t op, MatchContext* context);
  void Fill(MatchContext* context) const;

  // The place of an op of the pattern in PlainMatch::ops.
  int PlaceOf(OpId pattern_op) const { return places_[pattern_op]; }
  OpId OpAt(int place) const { return cold_[place].op; }
  int num_ops() const { return static_cast<int>(plans_.size()); }

 private:
  enum class Kind : uint8_t {
    kAbsent,  // the operand must not be given
    kBound,   // it must be the value that an earlier step bound
    kOpen,    // it may be any value
    kMade,    // its defining op must fit an op of the pattern
  };
  struct Step {  // an operand of a bound op must fit a value of the pattern
    Kind kind;
    bool optional;          // the operand may be absent
    bool may_swap;          // the first operands of the user may be exchanged
    uint16_t operand;       // its number
    int16_t user;           // a place, as all ops here
    int16_t value;          // of the pattern
    int16_t producer;       // of kMade
    uint16_t result_index;  // of the producer
  };
  struct AlternativePlan {
    const Alternative* alternative = nullptr;
    uint16_t opcode = 0;
    bool pure = false, constant_like = false, commutative = false, has_attrs = false;
  };
  struct OpPlan {
    AlternativePlan first;
    uint32_t max_uses = 0;  // of result 0; kAnyUses when it may have external uses
    uint16_t num_operands = 0;
    uint16_t first_step = 0;    // of its operands
    int16_t result = 0;         // value of result 0
    bool more_results = false;  // the pattern names several
  };
  struct ColdPlan {  // what few ops need
    OpId op;
    std::vector<AlternativePlan> others;
    std::vector<char> binds_first;  // by attribute pattern: its variable is met here first
  };
  static constexpr uint32_t kAnyUses = UINT32_MAX;

  static AlternativePlan PlanAlternative(const Alternative& alternative);
  void PlanOp(OpId op);
  uint32_t UsesInside(ValueId value) const;
  bool Bind(int place, uint32_t found);
  void BindFurtherResults(int place, uint32_t found);
  bool MatchAttrs(int place, const Alternative& alternative, ir::AttrDict attrs);
  bool Take(const Step& step);
  bool Escapes() const;
  bool FurtherResultsEscape(int place) const;
  bool EscapesFrom(uint32_t value) const;
  bool ConstraintsHold(MatchContext* context) const;

  PlainMatch& match_;
  absl::InlinedVector<Step, 6> steps_;
  absl::InlinedVector<OpPlan, 3> plans_;
  bool limits_uses_ = false;  // some op's result must have no external use
  const PatternGraph& graph_;
  std::vector<ColdPlan> cold_;
  IdVector<SourceOp, int> places_;
  IdVector<SourceValue, char> value_planned_;
  IdVector<AttrVariable, char> attr_planned_;
};

}  // namespace weft::drr
