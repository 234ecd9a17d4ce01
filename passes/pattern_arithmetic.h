// Arithmetic of ONNX in source patterns: `x * half + 1` is onnx.Add(onnx.Mul(x, half), Splat(1)).
#pragma once

#include "drr/cpp/handles.h"

namespace weft::passes {

// An operand: a source value, or a number, which stands for its Splat(). Made where the operator
// stands, whose line it keeps: an operator has no room for a default argument, but what converts to
// its operands has.
class Term {
 public:
  Term(drr::Tensor tensor, drr::SourceLoc loc = drr::SourceLoc::Here())
      : graph_(tensor.graph()), id_(tensor.id()), loc_(loc) {}
  Term(double number, drr::SourceLoc loc = drr::SourceLoc::Here()) : number_(number), loc_(loc) {}

  drr::PatternGraph* graph() const { return graph_; }  // null: a number
  drr::Tensor In(drr::PatternGraph* graph) const;
  drr::SourceLoc loc() const { return loc_; }

 private:
  drr::PatternGraph* graph_ = nullptr;
  drr::ValueId id_;
  double number_ = 0;
  drr::SourceLoc loc_;
};

drr::Tensor operator+(const Term& a, const Term& b);
drr::Tensor operator-(const Term& a, const Term& b);
drr::Tensor operator*(const Term& a, const Term& b);
drr::Tensor operator/(const Term& a, const Term& b);

}  // namespace weft::passes
