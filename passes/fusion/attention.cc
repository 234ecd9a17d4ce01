#include "ir/dialects/fused/attention.h"

#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "passes/rules.h"

namespace weft::passes {

// softmax(scale * q k + mask) v => attention(q, transpose(k), v, mask). k arrives transposed,
// [B, H, D, T]; merging transposes takes care of the one added here. torch's
// scaled_dot_product_attention has a root of the scale on q and on k.
WEFT_RULE(FuseAttention, "fuse-composite", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto q_factor = src.Tensor("q_factor"), k_factor = src.Tensor("k_factor");
  auto factor = src.Tensor("factor"), divisor = src.Tensor("divisor");
  auto scaled_q = src.Either(q * q_factor, q), scaled_k = src.Either(k * k_factor, k);
  auto product = src.Op<ops::MatMul>()(scaled_q, scaled_k);
  auto scores = src.EitherOf({product / divisor, product * factor, product});
  auto masked = src.Either(scores + mask, scores);
  auto out = src.Op<ops::MatMul>()(src.Op<ops::Softmax>({.axis = In{-1, 3}})(masked), v);
  for (const Tensor& t : {q, k, v})
    src.Require("q, k and v are f32 of rank 4 with the same batch and heads", Rank(t, 4),
                DType(t, kF32), SameDim(t, 0, q, 0), SameDim(t, 1, q, 1));
  for (const Tensor& t : {q_factor, k_factor, factor, divisor})
    src.Require("every scale is one non-zero constant", NonZero(IfGiven(t)));
  src.Require("scaling and masking keep the shape of the scores", SameType(masked, product),
              SameType(scaled_q, q), SameType(scaled_k, k));
  src.Require(DType(IfGiven(mask), kF32), HasRank(IfGiven(mask)));
  auto scale = [=](const MatchContext& m) {
    const auto number = [&](Tensor t) { return m.Has(t) ? *m[t].splat() : 1.0; };
    return static_cast<float>(number(q_factor) * number(k_factor) * number(factor) /
                              number(divisor));
  };
  auto untransposed_k = res.Op<ops::Transpose>({.perm = {0, 1, 3, 2}})(k);
  res.Tensor(out) = res.Op<fused::Attention>({.scale = scale})(q, untransposed_k, v, mask);
}

// transpose(attention(transpose(q), transpose(k), transpose(v))) => attention(q, k, v) in
// [B, S, H, D]
WEFT_RULE(FuseAttentionTransposes, "fuse-composite", kExact,
          .aliases = {"absorb-attention-transposes"}) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto scale = src.Attr<float>("scale");
  const auto swap = [&](Tensor t) { return src.Op<ops::Transpose>({.perm = {0, 2, 1, 3}})(t); };
  auto out = swap(src.Op<fused::Attention>({.scale = scale})(
      src.Keep(swap(q)), src.Keep(swap(k)), src.Keep(swap(v)), src.Optional(mask)));
  res.Tensor(out) = res.Op<fused::Attention>(
      {.scale = scale, .layout = fused::AttentionLayout::kBshd})(q, k, v, mask);
}

}  // namespace weft::passes
