// Elementwise ops broadcast by themselves: an Expand in front of one is needed only where it makes the
// shape of the result.
#include <algorithm>

#include "passes/rules.h"

namespace weft::passes {
namespace {

// Whether x and y, broadcast together, have the shape of `out`, of which y and an expanded x have it:
// then every size of it is one of theirs.
bool MakeTheShape(const BoundTensor& x, const BoundTensor& y, const BoundTensor& out) {
  if (!x.has_rank() || !y.has_rank() || !out.has_rank()) return false;
  const auto has = [&](const BoundTensor& t, int64_t from_end) {
    return from_end <= t.rank() && t.dim(-from_end) == out.dim(-from_end);
  };
  for (int64_t i = 1; i <= out.rank(); ++i)
    if (out.dim(-i) == ir::kUnknownDim || !(has(x, i) || has(y, i))) return false;
  return true;
}

constexpr char kMakeTheShape[] = "x and y make the shape of the result without it";

}  // namespace

// f(expand(x, s), y) => f(x, y), operands of f in either order where it commutes
WEFT_RULE(DropExpandedOperand, "canonicalize", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::And, ops::Or, ops::Xor,
                     ops::Equal, ops::Greater, ops::Less>();
  auto out = f(src.Keep(src.Op<ops::Expand>()(x, src.Tensor("sizes"))), y);
  src.Require(kMakeTheShape,
              [=](const MatchContext& m) { return MakeTheShape(m[x], m[y], m[out]); });
  res.Tensor(out) = res.Like(f)(x, y);
}

// f(y, expand(x, s)) => f(y, x), where f does not commute
WEFT_RULE(DropExpandedSecondOperand, "canonicalize", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto f = src.OneOf<ops::Sub, ops::Div, ops::Greater, ops::Less>();
  auto out = f(y, src.Keep(src.Op<ops::Expand>()(x, src.Tensor("sizes"))));
  src.Require(kMakeTheShape,
              [=](const MatchContext& m) { return MakeTheShape(m[x], m[y], m[out]); });
  res.Tensor(out) = res.Like(f)(y, x);
}

}  // namespace weft::passes
