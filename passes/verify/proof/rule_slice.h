// A part of the source of a rule: what lies within some steps of a constraint. What such a part says holds
// of the whole too, and it has fewer cases: of ranks, alternatives and operands that may be absent.
#pragma once

#include "drr/rule/pattern_graph.h"

namespace weft::passes {

// Of each value whether it is there in each match, with whatever alternatives and operands. (One that may be
// absent itself is; what it is computed from is not.)
drr::IdVector<drr::SourceValue, bool> ValuesAlwaysThere(const drr::PatternGraph& graph);

class RuleSlice {
 public:
  // The values and attributes of the constraint, and what decides whether they are there.
  RuleSlice(const drr::PatternGraph& graph, const drr::Formula& constraint);

  // One step more: ops, alternatives and constraints that have one of the values. False when there are none.
  bool Grow();

  // What is no part is made of nothing that is known.
  bool Has(drr::OpId op) const { return ops_[op]; }
  bool Has(drr::ValueId value) const { return values_[value]; }
  // Whether all values of a constraint are.
  bool Has(const drr::Formula& constraint) const;
  // Whether the alternatives of a value, or what is below skipped ops, are a part.
  bool HasChoices(drr::ValueId value) const { return choices_[value]; }
  bool IsAlwaysThere(drr::ValueId value) const { return always_[value]; }

 private:
  // What is there with some alternative only is, with that.
  void AddWhatDecides();
  void Add(drr::ValueId value);
  void Add(drr::OpId op);
  void AddChoices(drr::ValueId value);
  void Add(const drr::Formula& constraint);
  bool Touches(drr::OpId op) const;
  bool Touches(const drr::Formula& constraint) const;
  bool TouchesChoices(drr::ValueId value) const;

  const drr::PatternGraph& graph_;
  drr::IdVector<drr::SourceOp, bool> ops_;
  drr::IdVector<drr::SourceValue, bool> values_, choices_, always_;
  drr::IdVector<drr::AttrVariable, bool> attrs_;
  bool has_grown_ = false;
};

}  // namespace weft::passes
