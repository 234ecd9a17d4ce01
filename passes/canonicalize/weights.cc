// Constant factors and terms that weights take in.
#include <algorithm>

#include "drr/rule/constant_f32.h"
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

}  // namespace

// conv(x, w, b) * s => conv(x, w * s, b * s), s by channel
WEFT_RULE(FoldFactorIntoConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32), IsConstant(IfGiven(b)));
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
  src.Require(IsConstant(IfGiven(b)));
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

// conv(x + t, w, b) => conv(x, w, b + sum of w * t), t by channel, where nothing is padded
WEFT_RULE(FoldTermBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto sum = x + t;
  auto out = conv(sum, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), MinRank(w, 3), SameType(x, sum));
  src.Require(IsConstant(IfGiven(b)));
  src.Require("nothing is padded", [=](const MatchContext& m) {
    const auto& pads = m[conv].pads;
    return m[conv].auto_pad == ops::AutoPad::kValid ||
           (m[conv].auto_pad == ops::AutoPad::kNotSet &&
            (!pads || std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p == 0; })));
  });
  src.Require(kPerChannel, IsConstant(t), DType(t, kF32), VariesAlong(t, x, 1));
  src.Require("t has one number, or one for each channel that w reads", [=](const MatchContext& m) {
    const int64_t group = m[conv].group, outputs = m[w].dim(0), count = m[t].type().NumElements();
    return group > 0 && outputs > 0 && outputs % group == 0 && m[w].dim(1) > 0 &&
           (count == 1 || count == group * m[w].dim(1));
  });
  auto new_b = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]), terms = *ConstantF32(m[t]);
    const int64_t outputs = m[w].dim(0), inputs = m[w].dim(1);
    const int64_t kernel = static_cast<int64_t>(weights.size()) / outputs / inputs;
    return MakeF32(m.context(), Shape{outputs}, [&](int64_t c) {
      double sum = m.Has(b) ? (*ConstantF32(m[b]))[c] : 0.0;
      const int64_t first = c / (outputs / m[conv].group) * inputs;
      for (int64_t i = 0; i < inputs * kernel; ++i)
        sum += double{weights[c * inputs * kernel + i]} *
               terms[terms.size() == 1 ? 0 : first + i / kernel];
      return sum;
    });
  });
  res.Tensor(out) = res.Like(conv)(x, w, new_b);
}

// conv(x / d, w, b) => conv(x, w / d, b), d a number, likewise
WEFT_RULE(FoldDivisorBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), d = src.Tensor("d");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto divided = NoProduct(src, x) / d;
  auto out = conv(divided, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), NonZero(d), OneElement(d), Broadcasts(d, w),
              DType(d, kF32), SameType(x, divided));
  src.Profitable(OnlyUser(w, out));
  res.Tensor(out) = res.Like(conv)(x, res.Constant(Quotient(w, d)), b);
}

// matmul(x, w) * s => matmul(x, w * s), s a number or one for each column
WEFT_RULE(FoldFactorIntoMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), s = src.Tensor("s");
  auto y = src.Op<ops::MatMul>()(x, w);
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2));
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

// matmul(x, w) / d => matmul(x, w / d), d a number
WEFT_RULE(FoldDivisorIntoMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), d = src.Tensor("d");
  auto y = src.Op<ops::MatMul>()(x, w);
  auto out = y / d;
  src.Require(IsConstant(w), DType(w, kF32), NonZero(d), OneElement(d), Broadcasts(d, w),
              DType(d, kF32), SameType(y, out));
  src.Profitable(OnlyUser(w, y));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Quotient(w, d)));
}

// matmul(x / d, w) => matmul(x, w / d), d a number
WEFT_RULE(FoldDivisorBeforeMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), d = src.Tensor("d");
  auto divided = NoProduct(src, x) / d;
  auto out = src.Op<ops::MatMul>()(divided, w);
  src.Require(IsConstant(w), DType(w, kF32), NonZero(d), OneElement(d), Broadcasts(d, w),
              DType(d, kF32), SameType(x, divided));
  src.Profitable(OnlyUser(w, out));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Quotient(w, d)));
}

// f(x, w, 0) => f(x, w), of convolutions and gemm
WEFT_RULE(DropZeroBias, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w");
  auto f = src.OneOf<ops::Conv, ops::ConvTranspose, ops::Gemm>(AnyAttrs());
  auto out = f(x, w, src.Splat(0));
  res.Tensor(out) = res.Like(f)(x, w);
}

// transpose(conv(x, w, b), p) + t => transpose(conv(x, w, b + t), p), t by channel, as tf2onnx writes
// a bias behind the layout of TensorFlow
WEFT_RULE(FoldTermThroughTranspose, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto perm = src.Attr<Ints>("perm");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = src.Op<ops::Transpose>({.perm = perm})(conv(x, w, src.Optional(b)));
  auto out = y + t;
  src.Require(IsConstant(IfGiven(b)));
  src.Require("t is an f32 constant, a number or one per channel", IsConstant(t), DType(t, kF32),
              StaticDim(w, 0), VariesAlong(t, y, 1, perm));
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = perm})(res.Like(conv)(x, w, res.Constant(BiasSum(b, t, w))));
}

}  // namespace weft::passes
