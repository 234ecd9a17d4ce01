// Constant factors and terms that weights take in.
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

constexpr char kPerChannel[] = "the other operand is an f32 constant, a number or one per channel";

// What fuses a GELU or a norm looks for the factor behind the product, of which it may be a part.
Tensor NoProduct(SourcePattern& src, const Tensor& x) {
  return src.Not(x, src.OneOf<ops::Mul, ops::Div>()(src.Tensor("any"), src.Tensor("other")));
}

void RequireConstantBias(SourcePattern& src, const Tensor& b, const Tensor& w) {
  src.Require("b, if given, is an f32 constant, one per channel", IsConstant(IfGiven(b)),
              DType(IfGiven(b), kF32), PerChannel(IfGiven(b), w, 0));
}

}  // namespace

// conv(x, w, b) * s => conv(x, w * s, b * s), s by channel
WEFT_RULE(FoldFactorIntoConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32));
  RequireConstantBias(src, b, w);
  src.Profitable(OnlyUser(w, y));
  src.Require(kPerChannel, IsConstant(s), DType(s, kF32), VariesAlong(s, y, 1));
  res.Tensor(out) =
      res.Like(conv)(x, res.Constant(Product(w, s, 0)), res.Constant(BiasProduct(b, s, w)));
}

// conv(x, w, b) + t => conv(x, w, b + t), t by channel
WEFT_RULE(FoldTermIntoConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = y + t;
  RequireConstantBias(src, b, w);
  src.Require(kPerChannel, IsConstant(t), DType(t, kF32), StaticDim(w, 0), VariesAlong(t, y, 1));
  res.Tensor(out) = res.Like(conv)(x, w, res.Constant(BiasSum(b, t, w)));
}

// conv(x * s, w, b) => conv(x, w * s, b), s a number: 0 times it is 0, so padding stays what it is
WEFT_RULE(FoldFactorBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto scaled = NoProduct(src, x) * s;
  auto out = conv(scaled, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), NonZero(s), DType(s, kF32), SameType(x, scaled));
  src.Profitable(OnlyUser(w, out));
  res.Tensor(out) = res.Like(conv)(x, res.Constant(Product(w, s, 0)), b);
}

// matmul(x, w) * s => matmul(x, w * s), s a number or one for each column
WEFT_RULE(FoldFactorIntoMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), s = src.Tensor("s");
  auto y = src.Op<ops::MatMul>()(x, w);
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2), MinRank(x, 2));
  src.Profitable(OnlyUser(w, y));
  src.Require("s is an f32 constant, a number or one per column", IsConstant(s), DType(s, kF32),
              VariesAlong(s, y, -1));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Product(w, s, 1)));
}

// matmul(x * s, w) => matmul(x, w * s), s a number
WEFT_RULE(FoldFactorBeforeMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), s = src.Tensor("s");
  auto scaled = NoProduct(src, x) * s;
  auto out = src.Op<ops::MatMul>()(scaled, w);
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2), NonZero(s), DType(s, kF32),
              SameType(x, scaled));
  src.Profitable(OnlyUser(w, out));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Product(w, s, 1)));
}

// transpose(conv(x, w, b), p) + t => transpose(conv(x, w, b + t), p), t by channel, as tf2onnx writes
// a bias behind the layout of TensorFlow
WEFT_RULE(FoldTermThroughTranspose, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto perm = src.Attr<Ints>("perm");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = src.Op<ops::Transpose>({.perm = perm})(conv(x, w, src.Optional(b)));
  auto out = y + t;
  RequireConstantBias(src, b, w);
  src.Require("t is an f32 constant, a number or one per channel", IsConstant(t), DType(t, kF32),
              StaticDim(w, 0), VariesAlong(t, y, 1, perm));
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = perm})(res.Like(conv)(x, w, res.Constant(BiasSum(b, t, w))));
}

}  // namespace weft::passes
