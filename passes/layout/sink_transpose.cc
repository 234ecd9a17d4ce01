// Transposes sink towards the outputs, where they meet others and cancel.
#include "ir/dialects/fused/quantized_elementwise.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/quantize.h"
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
  auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Pow, ops::PRelu>();
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), c);
  src.Require(IsConstant(c), OneElement(c), NoHigherRank(c, x));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, c));
}

// f(transpose(x, p), c) => transpose(f(x, transpose(c, inverse(p))), p), c of the rank of x, with sizes
// of 1 in front where it has a lower one: a slope, scale or shift of each channel
WEFT_RULE(SinkTransposeThroughConstantOp, "layout", kExact, .benefit = 1) {
  auto x = src.Tensor("x"), c = src.Tensor("c");
  auto p = src.Attr<Ints>("p");
  auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::PRelu>();
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), c);
  src.Require(IsConstant(c), NotConstant(x), NoHigherRank(c, x));
  auto full = res.Op<ops::Reshape>({.allowzero = 1})(c, res.ConstantInts(ShapeOf(c, x)));
  auto moved = res.Op<ops::Transpose>({.perm = InverseOf(p)})(full);
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, moved));
}

// f(nchw(x), y) => nchw(f(x, nhwc(y))), y a number for each channel of each image, as diffusion networks add
// what they know of the time: its own transpose becomes a reshape
WEFT_RULE(SinkTransposeThroughChannelOp, "layout", kExact) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div>();
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(x)), y);
  src.Require(NotConstant(y), Rank(x, 4), Rank(y, 4), Dim(y, 2, 1), Dim(y, 3, 1));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(
      res.Like(f)(x, res.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(y)));
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

// f(transpose(x, p), s, z) => transpose(f(x, s, z), p), f to or from integers with one scale
WEFT_RULE(SinkTransposeThroughQuantize, "layout", kExact) {
  auto x = src.Tensor("x"), scale = src.Tensor("scale"), zero = src.Tensor("zero_point");
  auto p = src.Attr<Ints>("p");
  auto f = src.OneOf<ops::QuantizeLinear, ops::DequantizeLinear>(AnyAttrs(), {.block_size = 0});
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), scale, src.Optional(zero));
  src.Require(OneElement(scale), OneElement(IfGiven(zero)));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, scale, zero));
}

// qlookup(transpose(x, p), table) => transpose(qlookup(x, table), p)
WEFT_RULE(SinkTransposeThroughLookup, "layout", kExact) {
  auto x = src.Tensor("x"), table = src.Tensor("table");
  auto p = src.Attr<Ints>("p");
  auto out = src.Op<fused::QLookup>()(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)), table);
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Op<fused::QLookup>()(x, table));
}

// f(transpose(a, p), transpose(b, p)) => transpose(f(a, b), p), f on quantised numbers
WEFT_RULE(SinkTransposesThroughQuantizedBinary, "layout", kExact) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto as = src.Tensor("a_scale"), az = src.Tensor("a_zero_point");
  auto bs = src.Tensor("b_scale"), bz = src.Tensor("b_zero_point");
  auto ys = src.Tensor("y_scale"), yz = src.Tensor("y_zero_point");
  auto p = src.Attr<Ints>("p");
  auto f = src.OneOf<fused::QAdd, fused::QMul>(AnyAttrs());
  auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(a)), as, az,
               src.Keep(src.Op<ops::Transpose>({.perm = p})(b)), bs, bz, ys, yz);
  src.Require(SameRank(a, b));
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(a, as, az, b, bs, bz, ys, yz));
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
