// Whether a constraint follows: what it says (constraint_facts.cc) is proved, where else it is assumed.
#include "passes/verify/proof/rule_case.h"

namespace weft::passes {

// An attention is one only of equal batches and heads; of other ops inference lets pass what may be valid.
void RuleCase::AssumeResultIsValid() {
  ops_.FollowAcceptedOnly();
  for (const drr::ResultOp& result : graph_.result_ops) {
    if (!result.def || result.def->name() != "fused.attention" || result.like || result.attrs_of)
      continue;
    ProofOp op{.def = result.def, .name = std::string(result.def->name())};
    for (const drr::ResultOperand& operand : result.operands) {
      const bool is_source = operand.kind == drr::ResultOperand::kSource && !operand.list;
      op.operands.push_back(is_source ? values_[graph_.Resolve(operand.source).index()].tensor
                                      : nullptr);
    }
    for (const drr::ResultAttr& attr : result.attrs)
      if (attr.literal) op.attrs[std::string(attr.name.str())] = {.literal = attr.literal};
    const bool has_all =
        op.operands.size() >= 3 && op.operands[0] && op.operands[1] && op.operands[2];
    if (has_all && c_.open()) ops_.Apply(op);
  }
}

// A result without elements is the same, whatever makes it.
void RuleCase::AssumeResultHasElements() {
  if (graph_.replacements.size() != 1) return;
  Terms& t = c_.terms();
  const Bound& replaced = values_[graph_.Resolve(graph_.replacements[0].source).index()];
  if (replaced.tensor == nullptr) return;
  for (const Term size : replaced.tensor->Dims()) c_.Assume(t.AtMost(t.Integer(1), size));
}

bool RuleCase::ProveFollows(const Formula& constraint) {
  ops_.FollowShapesOnly();
  if (!MakeSource()) return false;
  AssumeResultIsValid();
  if (c_.open()) AssumeResultHasElements();
  c_.CheckTensors(false);
  bool holds = c_.open();
  goal_ = &holds;
  SayConstraint(constraint);
  goal_ = nullptr;
  if (!holds) c_.Fail("it does not provably hold");
  return holds && c_.open();
}

void RuleCase::Say(bool holds) {
  if (breach_ != nullptr) {
    breach_->is_made |= !holds;
  } else if (goal_ != nullptr) {
    *goal_ &= holds;
  } else if (!holds) {
    c_.Refuse();
  }
}
void RuleCase::Say(Term fact) {
  if (breach_ != nullptr) {
    breach_->ways.push_back(c_.terms().Not(fact));
  } else if (goal_ != nullptr) {
    *goal_ = *goal_ && c_.Proves(fact);
  } else {
    c_.Assume(fact);
  }
}
void RuleCase::SaySame(const std::optional<Term>& a, const std::optional<Term>& b) {
  if (a && b) {
    Say(c_.terms().Equal(*a, *b));
  } else {
    SayUnknown();
  }
}
void RuleCase::SaySameType(TypeClass a, TypeClass b) {
  if (breach_ != nullptr) {
    BreakSameType(a, b);
  } else if (goal_ != nullptr) {
    *goal_ &= c_.SameType(a, b);
  } else {
    c_.Unify(a, b);
  }
}
void RuleCase::SayTypeIs(TypeClass type, TypeSet types) {
  if (breach_ != nullptr) {
    const TypeSet others = c_.PossibleTypes(type) & ~types;
    if (others == 0) return;
    c_.Restrict(type, others);
    breach_->is_made = true;
  } else if (goal_ != nullptr) {
    *goal_ &= (c_.PossibleTypes(type) & ~types) == 0;
  } else {
    c_.Restrict(type, types);
  }
}
void RuleCase::SayUnknown() {
  if (breach_ != nullptr) breach_->is_made = true;  // who draws the rest may break it
  if (goal_ != nullptr) *goal_ = false;
}
bool RuleCase::HasRank(Tensor& tensor, size_t rank) {
  return goal_ != nullptr || breach_ != nullptr ? tensor.Rank() == rank : tensor.SetRank(rank);
}

}  // namespace weft::passes
