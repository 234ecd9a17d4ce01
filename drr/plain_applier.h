// Applying a match of PlainMatcher, when the result is a few ops of one result each that replace the
// root: the same transaction as Apply (drr/apply.h), on numbers instead of handles and without
// allocation. The root's record becomes the op that replaces it, where one does.
// Attributes that a rule computes from nothing but attribute variables are computed once per
// combination: functions of a rule give equal results for equal matches.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "drr/plain_matcher.h"
#include "ir/infer.h"
#include "ir/rewriter.h"

namespace weft::drr {

class PlainApplier {
 public:
  static bool Supports(const Rule& rule);  // one that PlainMatcher supports
  // Of matches that `matcher` finds and leaves in `match`; it refers to all three.
  PlainApplier(const Rule& rule, const PlainMatcher& matcher, const PlainMatch& match);

  // False when the rule declined; *reason (may be null) then says why, and the program is as before.
  bool Apply(const ir::GraphView& view, MatchContext* context, ir::Rewriter& rewriter,
             std::string* reason);

 private:
  static constexpr size_t kMaxKey = 4;
  static constexpr size_t kRemembered = 64;  // dictionaries per result op, a power of two
  struct RememberedAttrs {
    std::array<uint32_t, kMaxKey> key{};
    ir::AttrDict dict;
    bool valid = false;
  };
  struct OpPlan {
    const ResultOp* op = nullptr;
    bool computes = false;  // has attributes that depend on the match
    bool remember = false;
    std::vector<RememberedAttrs> remembered;
    ir::InferenceCache::Entry last;       // type inference asked and answered
    std::vector<ResultOperand> operands;  // source values resolved
    size_t min_operands = 0;              // absent ones at the end beyond these are left out
  };

  bool Fail(std::string* reason, std::string text);
  bool Attributes(OpPlan& plan, ir::AttrDict* dict, std::string* reason);
  bool ComputeAttributes(const ResultOp& op, ir::AttrDict* dict, bool* pure, std::string* reason);
  bool InferType(OpPlan& plan, ir::AttrDict attrs, ir::Type* type, std::string* reason);
  bool Build(OpPlan& plan, ir::Operation root, ir::Rewriter& rewriter, std::string* reason);
  bool Prepare(OpPlan& plan, ir::AttrDict* attrs, ir::Type* type, std::string* reason);
  bool ReplaceRoot(ir::Operation root, ir::Rewriter& rewriter, std::string* reason);
  bool ReplaceUses(ir::Operation root, ir::Rewriter& rewriter, std::string* reason);
  void EraseMatched(ir::Rewriter& rewriter);
  uint32_t NumberOf(const ResultOperand& operand) const {
    if (operand.kind == ResultOperand::kNone) return ir::kNoId;
    return operand.kind == ResultOperand::kSource ? match_.values[operand.id]
                                                  : results_[operand.id];
  }
  ResultOperand Resolved(ResultOperand operand) const;
  bool Reconcile(ir::Type old_type, ir::Type* new_type, std::string* reason);

  const PatternGraph& graph_;
  const PlainMatcher& matcher_;
  const PlainMatch& match_;
  int replaced_ = 0;              // value
  ResultOperand with_;            // in its place
  bool in_place_ = false;         // the last op that is built becomes the root
  std::vector<OpPlan> plans_;     // in the order they are built
  std::vector<int> erase_order_;  // places of matched ops, readers first, without the root
  // The application under way.
  const ir::GraphView* view_ = nullptr;
  MatchContext* context_ = nullptr;
  bool filled_ = false;
  std::vector<uint32_t> results_, operands_;
  std::vector<ir::Operation> created_;
};

}  // namespace weft::drr
