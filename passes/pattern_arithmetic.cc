#include "passes/pattern_arithmetic.h"

#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"

namespace weft::passes {
namespace {

template <class O>
drr::Tensor Binary(const Term& a, const Term& b) {
  drr::PatternGraph* graph = a.graph() ? a.graph() : b.graph();
  const drr::Tensor left = a.In(graph), right = b.In(graph);
  return drr::SourcePattern(graph).Op<O>({}, {}, a.loc())(left, right);
}

}  // namespace

drr::Tensor Term::In(drr::PatternGraph* graph) const {
  return graph_ ? drr::Tensor(graph_, id_) : drr::SourcePattern(graph).Splat(number_, loc_);
}

drr::Tensor operator+(const Term& a, const Term& b) { return Binary<ir::ops::Add>(a, b); }
drr::Tensor operator-(const Term& a, const Term& b) { return Binary<ir::ops::Sub>(a, b); }
drr::Tensor operator*(const Term& a, const Term& b) { return Binary<ir::ops::Mul>(a, b); }
drr::Tensor operator/(const Term& a, const Term& b) { return Binary<ir::ops::Div>(a, b); }

}  // namespace weft::passes
