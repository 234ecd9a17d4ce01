#include "ir/dialects/fused/attention.h"

#include <limits>
#include <optional>

#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

// Which operand of a Where the scores are: where(selector, scores, fill), or where(selector, fill,
// scores) as torch's masked_fill has it.
enum class Scores { kWhereTrue, kWhereFalse };

// Whether weights that are NaN are made 0: where(isnan(weights), 0, weights).
enum class Weights { kAsTheyAre, kZeroForNaN };

// softmax(where(selector, scale * q k, fill) + mask) v, all but q, k and v optional; k is transposed.
// torch's scaled_dot_product_attention has a root of the scale on q and on k, and weights that are no NaN
// where its mask is boolean.
class AttentionPattern {
 public:
  AttentionPattern(SourcePattern& src, const Tensor& q, const Tensor& k, const Tensor& v)
      : q_(q),
        k_(k),
        v_(v),
        mask_(src.Tensor("mask")),
        selector_(src.Tensor("selector")),
        fill_(src.Tensor("fill")),
        q_factor_(src.Tensor("q_factor")),
        k_factor_(src.Tensor("k_factor")),
        factor_(src.Tensor("factor")),
        divisor_(src.Tensor("divisor")) {}

  const Tensor& mask() const { return mask_; }
  const Tensor& selector() const { return selector_; }

  Tensor Of(SourcePattern& src, int rank, Scores are = Scores::kWhereTrue,
            Weights guard = Weights::kAsTheyAre) const {
    auto scaled_q = src.Either(q_ * q_factor_, q_), scaled_k = src.Either(k_ * k_factor_, k_);
    auto product = src.Op<ops::MatMul>()(scaled_q, scaled_k);
    auto scores = src.EitherOf({product / divisor_, product * factor_, product});
    const auto where = src.Op<ops::Where>();
    auto selected = are == Scores::kWhereFalse
                        ? where(selector_, fill_, scores)
                        : src.Either(where(selector_, scores, fill_), scores);
    auto masked = src.Either(selected + mask_, selected);
    for (const Tensor& t : {q_factor_, k_factor_, factor_, divisor_})
      src.Require("every scale is one constant", IsUniform(IfGiven(t)));
    src.Require("scaling and masking keep the shape of the scores", SameType(masked, product),
                SameType(scaled_q, q_), SameType(scaled_k, k_));
    src.Require(DType(IfGiven(mask_), kF32), HasRank(IfGiven(mask_)));
    src.Require("what takes the place of scores is one constant", IsUniform(IfGiven(fill_)));
    auto softmax = src.Op<ops::Softmax>({.axis = In{-1, rank - 1}})(masked);
    if (guard == Weights::kAsTheyAre) return src.Op<ops::MatMul>()(softmax, v_);
    auto weights = src.Op<ops::Where>()(src.Op<ops::IsNaN>()(softmax), src.Splat(0), softmax);
    src.Require("the guard keeps the shape of the weights", SameType(weights, softmax));
    return src.Op<ops::MatMul>()(weights, v_);
  }

  Expression<double> Scale() const { return Scaled(1, {q_factor_, k_factor_, factor_}, divisor_); }
  Expression<double> Fill() const { return SplatOf(fill_, 0); }

 private:
  Tensor q_, k_, v_, mask_, selector_, fill_, q_factor_, k_factor_, factor_, divisor_;
};

void RequireSameHeads(SourcePattern& src, const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor& t : {q, k, v})
    src.Require("q, k and v are f32 of rank 4", Rank(t, 4), DType(t, kF32));
  for (const Tensor& t : {k, v})
    src.Require("q, k and v have the same batch and heads", SameDim(t, 0, q, 0),
                SameDim(t, 1, q, 1));
}

// The pattern in four dimensions becomes one operation. k arrives transposed, [B, H, D, T]; merging
// transposes takes care of the one added here.
void FuseHeads(SourcePattern& src, ResultPattern& res, Scores are, Weights guard) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  const AttentionPattern pattern(src, q, k, v);
  auto out = pattern.Of(src, 4, are, guard);
  RequireSameHeads(src, q, k, v);
  auto untransposed_k = res.Op<ops::Transpose>({.perm = {0, 1, 3, 2}})(k);
  drr::ResultAttrs<fused::Attention> attrs{.scale = pattern.Scale(), .fill = pattern.Fill()};
  if (guard == Weights::kZeroForNaN) attrs.zero_nan = true;
  const auto attention = res.Op<fused::Attention>(attrs);
  res.Tensor(out) =
      are == Scores::kWhereTrue
          ? attention(q, untransposed_k, v, pattern.mask(), pattern.selector())
          : attention(q, untransposed_k, v, pattern.mask(), res.Op<ops::Not>()(pattern.selector()));
}

}  // namespace

// softmax(where(keep, scale * q k, fill) + mask) v => attention(q, transpose(k), v, mask, keep)
WEFT_RULE(FuseAttention, "fuse-composite", kReassociates) {
  FuseHeads(src, res, Scores::kWhereTrue, Weights::kAsTheyAre);
}

// softmax(where(drop, fill, scale * q k) + mask) v => attention(q, transpose(k), v, mask, not drop)
WEFT_RULE(FuseMaskedFillAttention, "fuse-composite", kReassociates) {
  FuseHeads(src, res, Scores::kWhereFalse, Weights::kAsTheyAre);
}

// w = softmax(where(keep, scale * q k, fill) + mask), where(isnan(w), 0, w) v
// => attention(q, transpose(k), v, mask, keep) {zero_nan}
WEFT_RULE(FuseGuardedAttention, "fuse-composite", kReassociates) {
  FuseHeads(src, res, Scores::kWhereTrue, Weights::kZeroForNaN);
}

// Heads as part of the batch, as torch.bmm wants them:
// softmax(scale * reshape(q, s) transpose(reshape(k))) reshape(v) => reshape(attention(q, k, v), s)
WEFT_RULE(FuseBatchedAttention, "fuse-composite", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  auto s = src.Tensor("s"), k_shape = src.Tensor("k_shape"), v_shape = src.Tensor("v_shape");
  const auto reshape = [&](Tensor x, Tensor shape) {
    return src.Op<ops::Reshape>(AnyAttrs())(x, shape);
  };
  auto flat_q = src.Op<ops::Reshape>({.allowzero = 0})(q, s);
  auto flat_k = reshape(k, k_shape), flat_v = reshape(v, v_shape);
  const AttentionPattern pattern(src, flat_q, src.Op<ops::Transpose>({.perm = {0, 2, 1}})(flat_k),
                                 flat_v);
  auto out = pattern.Of(src, 3);
  RequireSameHeads(src, q, k, v);
  // The rest is what the products and the numbers of elements leave.
  src.Require("only batch and heads become one", Rank(flat_q, 3), Rank(flat_v, 3),
              SameDim(q, 2, flat_q, 1), SameDim(q, 3, flat_q, 2), SameDim(k, 2, flat_k, 1),
              SameDim(v, 3, flat_v, 2));
  src.Require("the result has the shape of q", SameDim(v, 3, q, 3));
  src.Require("masks are the same for all heads", MaxRank(IfGiven(pattern.mask()), 2),
              MaxRank(IfGiven(pattern.selector()), 2));
  auto attended = res.Op<fused::Attention>({.scale = pattern.Scale(), .fill = pattern.Fill()})(
      q, k, v, pattern.mask(), pattern.selector());
  res.Tensor(out) = res.Op<ops::Reshape>()(attended, s);
}

// Heads as part of the batch, however they came there (torch.nn.MultiheadAttention transposes them):
// softmax(scale * q k + mask) v => squeeze(attention(unsqueeze(q), unsqueeze(transpose(k)), unsqueeze(v), mask)), which
// takes all of them for heads of one batch
WEFT_RULE(FuseFlatAttention, "fuse-composite", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  const AttentionPattern pattern(src, q, k, v);
  auto out = pattern.Of(src, 3);
  for (const Tensor& t : {q, k, v})
    src.Require("q, k and v are f32 of rank 3 and of one batch", Rank(t, 3), DType(t, kF32),
                SameDim(t, 0, q, 0));
  const auto as_heads = [&](const auto& t) {
    return res.Op<ops::Unsqueeze>()(t, res.ConstantInts({0}));
  };
  auto untransposed_k = res.Op<ops::Transpose>({.perm = {0, 2, 1}})(k);
  auto attended = res.Op<fused::Attention>({.scale = pattern.Scale(), .fill = pattern.Fill()})(
      as_heads(q), as_heads(untransposed_k), as_heads(v), pattern.mask(), pattern.selector());
  res.Tensor(out) = res.Op<ops::Squeeze>()(attended, res.ConstantInts({0}));
}

// attention(q, repeat(k), repeat(v)) => attention(q, k, v), where each head stands for several of q:
// reshape(expand(unsqueeze(k)))
WEFT_RULE(FuseRepeatedHeads, "fuse-composite", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  auto mask = src.Tensor("mask"), keep = src.Tensor("keep");
  auto scale = src.Attr<float>("scale"), fill = src.Attr<float>("fill");
  auto zero_nan = src.Attr<bool>("zero_nan");
  const auto repeat = [&](Tensor x, const char* sizes, const char* shape) {
    auto column = src.Op<ops::Unsqueeze>()(x, src.Splat(2));
    auto repeated = src.Op<ops::Expand>()(column, src.Tensor(sizes));
    auto heads = src.Op<ops::Reshape>(AnyAttrs())(repeated, src.Tensor(shape));
    src.Require("each head stands for some that lie next to each other", Rank(x, 4),
                Rank(repeated, 5), Rank(heads, 4));
    // A head, or a row, that is the only one may be expanded as well.
    src.Require("batches and columns are not expanded", SameDim(repeated, 0, x, 0),
                SameDim(repeated, 4, x, 3));
    for (int64_t axis : {0, 2, 3})
      src.Require("nothing but heads becomes more", SameDim(heads, axis, x, axis));
    src.Require("numbers of heads are known", StaticDim(x, 1), StaticDim(heads, 1));
    return src.Keep(heads);
  };
  auto out = src.Op<fused::Attention>({.scale = scale, .fill = fill, .zero_nan = zero_nan})(
      q, repeat(k, "k_sizes", "k_shape"), repeat(v, "v_sizes", "v_shape"), src.Optional(mask),
      src.Optional(keep));
  src.Require("k and v have as many heads", SameDim(k, 1, v, 1));
  res.Tensor(out) = res.Op<fused::Attention>({.scale = scale, .fill = fill, .zero_nan = zero_nan})(
      q, k, v, mask, keep);
}

// attention(reshape(q * c), k, v) => attention(reshape(q), k, v) {scale * c}, whatever moves it; q / c
// likewise
WEFT_RULE(FuseAttentionScale, "fuse-composite", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  auto mask = src.Tensor("mask"), keep = src.Tensor("keep");
  auto factor = src.Tensor("factor"), divisor = src.Tensor("divisor");
  auto scaled = src.Either(q * factor, q / divisor);
  auto moves = src.Repeat<ops::Reshape, ops::Transpose, ops::Unsqueeze>(AnyAttrs(), {.max = 3});
  auto scale = src.Attr<float>("scale");
  auto attention = src.Op<fused::Attention>(AnyAttrs(), {.scale = scale});
  auto out = attention(moves(scaled), k, v, src.Optional(mask), src.Optional(keep));
  src.Require(DType(q, kF32), SameType(q, scaled));
  auto product = src.Let("what scales is one number", Scaled(scale, {factor}, divisor));
  res.Tensor(out) = res.Like(attention, {.scale = product})(res.Like(moves)(q), k, v, mask, keep);
}

// attention(q, k, v, where(keep, 0, -inf)) => attention(q, k, v, keep) {fill = -inf}, as torch 2 spells a
// boolean mask
WEFT_RULE(FuseAttentionMask, "fuse-composite", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), keep = src.Tensor("keep");
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  auto attention = src.Op<fused::Attention>(AnyAttrs());
  auto zero = src.Splat(0), masked = src.Splat(kMasked);
  auto mask = src.Op<ops::Where>()(keep, zero, masked);
  auto out = attention(q, k, v, mask);
  res.Tensor(out) = res.Like(attention, {.fill = kMasked})(q, k, v, res.None(), keep);
}

// softmax(reshape(x + mask)) => reshape(masked_softmax(x, mask)), over rows of x and of the mask; reshaped or not. What
// is left where no attention is: scores of two parts, of a cache and of new keys
WEFT_RULE(FuseMaskedSoftmax, "fuse-epilogue", kExact) {
  auto x = src.Tensor("x"), mask = src.Tensor("mask");
  auto axis = src.Attr<int64_t>("axis");
  auto sum = x + mask;
  auto moves = src.Repeat<ops::Reshape>(AnyAttrs(), {.max = 1});
  auto moved = moves(sum);
  auto out = src.Op<ops::Softmax>({.axis = axis})(moved);
  src.Require(DType(x, kF32), SameType(sum, x), SameAxis(moved, axis, -1),
              SameDim(moved, -1, x, -1), SameDim(mask, -1, x, -1));
  res.Tensor(out) = res.Like(moves)(res.Op<fused::MaskedSoftmax>()(x, mask));
}

// transpose(attention(transpose(q), transpose(k), transpose(v))) => attention(q, k, v) in
// [B, S, H, D]
WEFT_RULE(FuseAttentionTransposes, "fuse-composite", kExact,
          .aliases = {"absorb-attention-transposes"}) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  auto mask = src.Tensor("mask"), keep = src.Tensor("keep");
  auto scale = src.Attr<float>("scale"), fill = src.Attr<float>("fill");
  auto zero_nan = src.Attr<bool>("zero_nan");
  const auto swap = [&](Tensor t) { return src.Op<ops::Transpose>({.perm = {0, 2, 1, 3}})(t); };
  auto out = swap(src.Op<fused::Attention>({.scale = scale, .fill = fill, .zero_nan = zero_nan})(
      src.Keep(swap(q)), src.Keep(swap(k)), src.Keep(swap(v)), src.Optional(mask),
      src.Optional(keep)));
  res.Tensor(out) = res.Op<fused::Attention>({.scale = scale,
                                              .layout = fused::AttentionLayout::kBshd,
                                              .fill = fill,
                                              .zero_nan = zero_nan})(q, k, v, mask, keep);
}

// transpose(attention(thirds of transpose(reshape(x)))) => attention(heads of the thirds of x) in [B, S, H, D],
// x being [B, S, 3 H D], as timm and transformers' ViT have it; a third is a Gather or, as unbind is written,
// the Squeeze of a part of a Split: of its first axis, as none else has parts of one row in front
WEFT_RULE(FusePackedAttentionTransposes, "fuse-composite", kExact) {
  auto x = src.Tensor("x"), mask = src.Tensor("mask"), keep = src.Tensor("keep");
  auto packed = src.Op<ops::Reshape>(AnyAttrs())(x, src.Tensor("shape"));
  auto heads = src.Op<ops::Transpose>({.perm = {2, 0, 3, 1, 4}})(packed);
  const auto parts =
      Several<3>(src.Op<ops::Split>(AnyAttrs()), heads, src.Optional(src.Tensor("sizes")));
  const auto third = [&](size_t i) {
    return src.Either(src.Op<ops::Gather>({.axis = 0})(heads, src.Splat(static_cast<double>(i))),
                      src.Op<ops::Squeeze>()(parts[i], src.Splat(0)));
  };
  auto attention = src.Op<fused::Attention>(AnyAttrs(), {.layout = fused::AttentionLayout::kBhsd});
  auto q = third(0), k = third(1), v = third(2);
  auto out = src.Op<ops::Transpose>({.perm = {0, 2, 1, 3}})(
      attention(q, k, v, src.Optional(mask), src.Optional(keep)));
  src.Require("columns become three parts of so many heads", Rank(x, 3), Rank(packed, 5),
              Dim(packed, 2, 3), SameDim(packed, 0, x, 0), SameDim(packed, 1, x, 1), Rank(q, 4));
  auto columns = src.Let("a third is all heads", [=](const MatchContext& m) {
    const int64_t count = m[packed].dim(3), size = m[packed].dim(4), all = m[x].dim(2);
    const bool fits = ir::IsStaticDim(count) && ir::IsStaticDim(size) && ir::IsStaticDim(all) &&
                      (size == 0 || count == all / 3 / size) && all == 3 * count * size;
    return fits ? std::optional(count * size) : std::nullopt;
  });
  const auto thirds =
      Several<3>(res.Op<ops::Split>({.axis = 2}), x,
                 res.ConstantInts([=](const MatchContext& m) { return Ints(3, m[columns]); }));
  auto shape = res.ConstantInts([=](const MatchContext& m) {
    return Ints{0, 0, m[packed].dim(3), m[packed].dim(4)};
  });
  const auto heads_of = [&](size_t i) { return res.Op<ops::Reshape>()(thirds[i], shape); };
  res.Tensor(out) = res.Like(attention, {.layout = fused::AttentionLayout::kBshd})(
      heads_of(0), heads_of(1), heads_of(2), mask, keep);
}

// transpose(squeeze(attention(unsqueeze(transpose(q)), unsqueeze(transpose(k)), unsqueeze(transpose(v)))))
// => squeeze(attention(unsqueeze(q), unsqueeze(k), unsqueeze(v))) in [B, S, H, D], where B is 1
WEFT_RULE(FuseFlatAttentionTransposes, "fuse-composite", kExact) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v");
  auto mask = src.Tensor("mask"), keep = src.Tensor("keep");
  auto attention = src.Op<fused::Attention>(AnyAttrs(), {.layout = fused::AttentionLayout::kBhsd});
  const auto swap = [&](const Tensor& t) { return src.Op<ops::Transpose>({.perm = {1, 0, 2}})(t); };
  const auto swapped_heads = [&](const Tensor& t) {
    return src.Keep(src.Op<ops::Unsqueeze>()(src.Keep(swap(t)), src.Splat(0)));
  };
  auto attended = attention(swapped_heads(q), swapped_heads(k), swapped_heads(v),
                            src.Optional(mask), src.Optional(keep));
  auto out = swap(src.Op<ops::Squeeze>()(attended, src.Splat(0)));
  for (const Tensor& t : {q, k, v}) src.Require(Rank(t, 3));
  const auto heads = [&](const Tensor& t) {
    return res.Op<ops::Unsqueeze>()(t, res.ConstantInts({0}));
  };
  res.Tensor(out) =
      res.Op<ops::Squeeze>()(res.Like(attention, {.layout = fused::AttentionLayout::kBshd})(
                                 heads(q), heads(k), heads(v), mask, keep),
                             res.ConstantInts({0}));
}

}  // namespace weft::passes
