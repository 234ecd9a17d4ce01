// Applying a match of PlainMatcher, when the result is a few ops of one result each that replace
// the root: the same transaction as Apply (drr/engine/applier.h), on numbers instead of handles and
// without allocation; it leaves uses in the same order. The root's record becomes the op that replaces
// it, where one does. Attributes that a rule computes from nothing but attribute variables are computed
// once per combination, as functions of a rule give equal results for equal matches; so are types.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "drr/engine/fast_matcher.h"
#include "ir/infer.h"
#include "ir/rewriter.h"

namespace weft::drr {

class PlainApplier {
 public:
  static bool Supports(const Rule& rule);  // one that PlainMatcher supports
  // Of matches that `matcher` finds and leaves in `match`; it refers to all three.
  PlainApplier(const Rule& rule, const PlainMatcher& matcher, PlainMatch* match);

  // False when the rule declined; *reason (may be null) then says why, and the program is as
  // before.
  bool Apply(const ir::GraphView& view, MatchContext* context, ir::Rewriter& rewriter,
             std::string* reason);

 private:
  static constexpr size_t kMaxOps = 64;  // matched
  static constexpr size_t kMaxKey = 4;
  static constexpr size_t kMaxMemos = 256;  // per result op, a power of two
  static constexpr size_t kProbes = 4;      // neighbours that one key may be at
  // What a result op was, the last time that its attributes followed from the same ones.
  struct Memo {
    bool has_attrs = false, has_type = false;
    uint8_t num_operands = 0;
    std::array<uint32_t, kMaxKey>
        key{};  // attribute variables, attributes copied, opcode of a Like()
    ir::AttrDict attrs;
    ir::Type type;  // inferred, for these types of operands
    std::array<uint32_t, ir::InferenceCache::kMaxOperands> operand_types{};
  };
  struct OpPlan {
    ir::Opcode opcode;      // of an op that is like a matched one: that of the match under way
    OpId copies;            // the source op whose attributes are copied
    bool is_like = false;   // of an op that is like a matched one
    bool computes = false;  // has attributes that depend on the match
    bool remember = false;
    ResultValueId result;
    uint32_t min_operands = 0;  // absent ones at the end beyond these are left out
    absl::InlinedVector<ResultOperand, 4> operands;  // source values resolved
    absl::InlinedVector<Memo, 1> memos{Memo()};      // by hash of the key
    const ResultOp* op = nullptr;
  };
  // A matched op that may be erased: its only users are the root and other ops that are erased.
  struct ErasePlan {
    int place = 0;        // in the match
    bool needed = false;  // by the result
    uint32_t uses = 0;    // by all users together
    uint64_t users = 0;   // a bit for each place
  };

  void PlanErasing();
  bool Fail(std::string* reason, std::string text);
  bool FailTypes(ir::Type old_type, ir::Type new_type, std::string* reason);
  bool Prepare(OpPlan& plan, ir::RawOperationState* state, std::string* reason);
  Memo& FindMemo(OpPlan& plan);
  bool ComputeAttributes(OpPlan& plan, Memo& memo, ir::AttrDict* attrs, std::string* reason);
  bool InferType(Memo& memo, ir::RawOperationState* state, std::string* reason);
  bool Build(OpPlan& plan, ir::Operation root, ir::Rewriter& rewriter, std::string* reason);
  void Insert(const OpPlan& plan, ir::Operation root, const ir::RawOperationState& state,
              ir::Rewriter& rewriter);
  bool ReplaceRoot(ir::Operation root, ir::Rewriter& rewriter, std::string* reason);
  bool ReplaceUses(ir::Operation root, ir::Rewriter& rewriter, std::string* reason);
  bool FindErased();
  void EraseMatched(ir::Rewriter& rewriter);
  uint32_t NumberOf(const ResultOperand& operand) const {
    if (operand.kind == ResultOperand::kNone) return ir::kNoId;
    return operand.kind == ResultOperand::kSource ? match_.values[operand.source]
                                                  : match_.results[operand.result];
  }
  ResultOperand Resolved(ResultOperand operand) const;

  PlainMatch& match_;
  bool in_place_ = false;  // the last op that is built becomes the root
  ValueId replaced_;
  ResultOperand with_;                             // in its place
  absl::InlinedVector<OpPlan, 1> plans_;           // in the order they are built
  absl::InlinedVector<ErasePlan, 3> erase_order_;  // users first, without the root
  const PatternGraph& graph_;
  const PlainMatcher& matcher_;
  // The application under way.
  MatchContext* context_ = nullptr;
  bool filled_ = false;
};

}  // namespace weft::drr
