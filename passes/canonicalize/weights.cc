// Constant factors and terms that weights take in.
#include <algorithm>
#include <optional>

#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "passes/canonicalize/constant_math.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// An f32 constant by channel: one number, or one for each place of `axis_from_end` (1: the last).
struct PerPlace {
  std::span<const float> numbers;
  double operator()(int64_t place) const { return numbers[numbers.size() == 1 ? 0 : place]; }
};

// Nothing unless t, beside a value of that rank, varies along that axis at most, which has `size` places.
std::optional<PerPlace> Places(const BoundTensor& t, int64_t rank, int64_t axis_from_end,
                               int64_t size) {
  const auto numbers = ConstantF32(t);
  if (!numbers || numbers->empty() || rank < 0 || t.rank() > rank || size <= 0) return std::nullopt;
  for (int64_t i = 1; i <= t.rank(); ++i)
    if (t.dim(-i) != 1 && (i != axis_from_end || t.dim(-i) != size)) return std::nullopt;
  return PerPlace{*numbers};
}

// Of a convolution's result.
Let<PerPlace> PerChannelOf(SourcePattern& src, const Tensor& t, const Tensor& conv,
                           const Tensor& w) {
  return src.Let("the other operand is an f32 constant, a number or one per channel",
                 [=](const MatchContext& m) {
                   return Places(m[t], m[conv].rank(), m[conv].rank() - 1, m[w].dim(0));
                 });
}

// w with element i times factor(i).
template <class Factor>
ResultTensor Scaled(ResultPattern& res, const Tensor& w, Factor factor) {
  return res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]);
    return MakeF32(m.context(), m[w].shape(), [&](int64_t i) { return weights[i] * factor(m, i); });
  });
}

// What fuses a GELU or a norm looks for the factor behind the product.
void RequireNoProduct(SourcePattern& src, const Tensor& x) {
  src.Profitable("x is no product, of which the factor may be a part", [=](const MatchContext& m) {
    const ir::Operation op = m[x].value().DefiningOp();
    return !op || !(op.Is<ops::Mul>() || op.Is<ops::Div>());
  });
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
  auto factor = PerChannelOf(src, s, y, w);
  auto new_w = Scaled(res, w, [=](const MatchContext& m, int64_t i) {
    return m[factor](i / (m[w].type().NumElements() / m[w].dim(0)));
  });
  auto new_b = res.Constant([=](const MatchContext& m) {
    return MakeF32(m.context(), Shape{m[w].dim(0)}, [&](int64_t c) {
      return m.Has(b) ? (*ConstantF32(m[b]))[c] * m[factor](c) : 0.0;
    });
  });
  res.Tensor(out) = res.Like(conv)(x, new_w, new_b);
}

// conv(x, w, b) + t => conv(x, w, b + t), t by channel
WEFT_RULE(FoldTermIntoConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = y + t;
  RequireConstantBias(src, b, w);
  auto term = PerChannelOf(src, t, y, w);
  auto new_b = res.Constant([=](const MatchContext& m) {
    return MakeF32(m.context(), Shape{m[w].dim(0)}, [&](int64_t c) {
      return m[term](c) + (m.Has(b) ? (*ConstantF32(m[b]))[c] : 0.0);
    });
  });
  res.Tensor(out) = res.Like(conv)(x, w, new_b);
}

// conv(x * s, w, b) => conv(x, w * s, b), s a number: 0 times it is 0, so padding stays what it is
WEFT_RULE(FoldFactorBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto scaled = x * s;
  auto out = conv(scaled, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), NonZero(s), DType(s, kF32), SameType(x, scaled));
  src.Profitable(OnlyUser(w, out));
  RequireNoProduct(src, x);
  auto new_w = Scaled(res, w, [=](const MatchContext& m, int64_t) { return *m[s].splat(); });
  res.Tensor(out) = res.Like(conv)(x, new_w, b);
}

// conv(x + t, w, b) => conv(x, w, b + sum of w * t), t by channel, where nothing is padded
WEFT_RULE(FoldTermBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto sum = x + t;
  auto out = conv(sum, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), MinRank(w, 3), SameType(x, sum));
  RequireConstantBias(src, b, w);
  src.Require("nothing is padded", [=](const MatchContext& m) {
    const auto& pads = m[conv].pads;
    return m[conv].auto_pad == ops::AutoPad::kValid ||
           (m[conv].auto_pad == ops::AutoPad::kNotSet &&
            (!pads || std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p == 0; })));
  });
  auto term = src.Let("t is an f32 constant, a number or one per channel",
                      [=](const MatchContext& m) -> std::optional<PerPlace> {
                        const int64_t group = m[conv].group, outputs = m[w].dim(0);
                        if (group <= 0 || outputs <= 0 || outputs % group != 0) return std::nullopt;
                        return Places(m[t], m[x].rank(), m[x].rank() - 1, group * m[w].dim(1));
                      });
  auto new_b = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]);
    const int64_t outputs = m[w].dim(0), inputs = m[w].dim(1);
    const int64_t kernel = static_cast<int64_t>(weights.size()) / outputs / inputs;
    return MakeF32(m.context(), Shape{outputs}, [&](int64_t c) {
      double sum = m.Has(b) ? (*ConstantF32(m[b]))[c] : 0.0;
      const int64_t first = c / (outputs / m[conv].group) * inputs;
      for (int64_t i = 0; i < inputs * kernel; ++i)
        sum += double{weights[c * inputs * kernel + i]} * m[term](first + i / kernel);
      return sum;
    });
  });
  res.Tensor(out) = res.Like(conv)(x, w, new_b);
}

// matmul(x, w) * s => matmul(x, w * s), s a number or one for each column
WEFT_RULE(FoldFactorIntoMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), s = src.Tensor("s");
  auto y = src.Op<ops::MatMul>()(x, w);
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2), MinRank(x, 2));
  src.Profitable(OnlyUser(w, y));
  auto factor =
      src.Let("s is an f32 constant, a number or one per column",
              [=](const MatchContext& m) { return Places(m[s], m[y].rank(), 1, m[w].dim(1)); });
  auto new_w =
      Scaled(res, w, [=](const MatchContext& m, int64_t i) { return m[factor](i % m[w].dim(1)); });
  res.Tensor(out) = res.Op<ops::MatMul>()(x, new_w);
}

// matmul(x * s, w) => matmul(x, w * s), s a number
WEFT_RULE(FoldFactorBeforeMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), s = src.Tensor("s");
  auto scaled = x * s;
  auto out = src.Op<ops::MatMul>()(scaled, w);
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2), NonZero(s), DType(s, kF32),
              SameType(x, scaled));
  src.Profitable(OnlyUser(w, out));
  RequireNoProduct(src, x);
  auto new_w = Scaled(res, w, [=](const MatchContext& m, int64_t) { return *m[s].splat(); });
  res.Tensor(out) = res.Op<ops::MatMul>()(x, new_w);
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
  auto term =
      src.Let("t is an f32 constant, a number or one per channel", [=](const MatchContext& m) {
        const Ints& p = m[perm];
        const int64_t to = std::find(p.begin(), p.end(), 1) - p.begin();
        return Places(m[t], m[y].rank(), m[y].rank() - to, m[w].dim(0));
      });
  auto new_b = res.Constant([=](const MatchContext& m) {
    return MakeF32(m.context(), Shape{m[w].dim(0)}, [&](int64_t c) {
      return m[term](c) + (m.Has(b) ? (*ConstantF32(m[b]))[c] : 0.0);
    });
  });
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = perm})(res.Like(conv)(x, w, new_b));
}

}  // namespace weft::passes
