// Transposes sink towards the outputs, where they meet others and cancel.
#include "passes/rules.h"

namespace weft::passes {

// f(transpose(x, p)) => transpose(f(x), p), f any pure elementwise op with one operand
WEFT_RULE(SinkTransposeThroughUnary, "layout", kExact) {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p");
  auto f = src.AnyOp(ir::kPure | ir::kElementwise);
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x));
}

// clip(transpose(x, p), low, high) => transpose(clip(x, low, high), p)
WEFT_RULE(SinkTransposeThroughClip, "layout", kExact) {
  auto x = src.Tensor("x"), low = src.Tensor("low"), high = src.Tensor("high");
  auto p = src.Attr<Ints>("p");
  auto out = src.Op<ops::Clip>()(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)),
                                 src.Optional(low), src.Optional(high));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Op<ops::Clip>()(x, low, high));
}

// f(transpose(x, p), c) => transpose(f(x, c), p), c one number
WEFT_RULE(SinkTransposeThroughScalarOp, "layout", kExact) {
  auto x = src.Tensor("x"), c = src.Tensor("c");
  auto p = src.Attr<Ints>("p");
  auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Pow>();
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), c);
  src.Require(IsConstant(c), OneElement(c), NoHigherRank(c, x));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, c));
}

// f(transpose(x, p), transpose(y, p)) => transpose(f(x, y), p); of different ranks, p moves other axes
WEFT_RULE(SinkTransposesThroughBinary, "layout", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto p = src.Attr<Ints>("p");
  auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Min, ops::Max>();
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)),
               src.Keep(src.Op<ops::Transpose>({.perm = p})(y)));
  src.Require(SameRank(x, y));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, y));
}

// concat(transpose(x, p) of each x, axis) => transpose(concat(xs, p[axis]), p)
WEFT_RULE(SinkTransposesThroughConcat, "layout", kExact) {
  auto xs = src.Tensors("xs");
  auto p = src.Attr<Ints>("p");
  auto axis = src.Attr<int64_t>("axis");
  auto out =
      src.Op<ops::Concat>({.axis = axis})(src.Keep(src.Op<ops::Transpose>({.perm = p}).Each(xs)));
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = p})(res.Op<ops::Concat>({.axis = ElementAt(p, axis)})(xs));
}

}  // namespace weft::passes
