// fused.attention between the reshapes that divide columns into heads, as com.microsoft's
// MultiHeadAttention, which divides them itself. There a scale of 0 is none, and stands for the default.
#include "ir/dialects/fused/attention.h"

#include <array>
#include <cmath>
#include <limits>

#include "ir/dialects/microsoft/attention.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;
using fused::AttentionLayout;

// What is [B, S, heads * D], as [B, S, heads, D]: attention wants four dimensions, and as many heads of v
// as of k.
struct SplitHeads {
  SplitHeads(SourcePattern& src, const Tensor& x, const char* name)
      : shape(src.Tensor(name)),
        reshape(src.Op<ops::Reshape>(AnyAttrs())),
        heads(reshape(x, shape)) {
    src.Require("only columns are divided into heads", Rank(x, 3), SameDim(heads, 0, x, 0),
                SameDim(heads, 1, x, 1), StaticDim(heads, 2), StaticDim(x, 2));
  }
  Tensor shape;
  OpPattern<ops::Reshape> reshape;
  Tensor heads;
};

Tensor SwapHeads(SourcePattern& src, const Tensor& x) {
  return src.Op<ops::Transpose>({.perm = {0, 2, 1, 3}})(x);
}

// What MultiHeadAttention wants to add to the scores.
void RequireWholeMask(SourcePattern& src, const Tensor& mask, const Tensor& q, int64_t queries,
                      const Tensor& k, int64_t keys) {
  src.Require("the mask has a number for each query and key", SameDim(IfGiven(mask), 2, q, queries),
              SameDim(IfGiven(mask), 3, k, keys));
}

// The mask, or what stands for it, broadcast to [.., .., S, keys], where S is the length of q: axis
// `queries`.
template <class Mask>
ResultTensor WholeMask(ResultPattern& res, const Mask& mask, const Tensor& q, int64_t queries) {
  auto length = res.Op<ops::Shape>({.end = queries + 1, .start = queries})(q);
  auto sizes =
      res.Op<ops::Concat>({.axis = 0})(res.ConstantInts({1, 1}), length, res.ConstantInts({1}));
  return res.Op<ops::Expand>()(mask, sizes);
}

}  // namespace

// attention(q, k, v, mask) => attention(q, k, v, expand(mask)), a number for each query
WEFT_RULE(LowerAttentionMask, "onnxruntime", kExact) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto attention = src.Op<fused::Attention>(AnyAttrs(), {.layout = AttentionLayout::kBshd});
  auto out = attention(q, k, v, mask);
  src.Require(MinRank(mask, 2), MaxRank(mask, 4), SameDim(mask, -1, k, 1));
  src.Profitable("the mask lacks queries, batches or heads", [=](const MatchContext& m) {
    const int64_t rows = m[mask].dim(-2), queries = m[q].dim(1);
    return (rows == 1 && queries != 1) || (rows != ir::kUnknownDim && m[mask].rank() < 4);
  });
  res.Tensor(out) = res.Like(attention)(q, k, v, WholeMask(res, mask, q, 1));
}

// attention(q, k, v, keep) {fill} => attention(q, k, v, where(keep, 0, fill)), the fill so low that a score added to
// it is lost
WEFT_RULE(LowerAttentionKeep, "onnxruntime", kReassociates) {
  using Limits = std::numeric_limits<float>;
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), keep = src.Tensor("keep");
  auto scale = src.Attr<float>("scale"), fill = src.Attr<float>("fill");
  auto out = src.Op<fused::Attention>(
      {.scale = scale, .layout = AttentionLayout::kBshd, .fill = fill})(q, k, v, src.None(), keep);
  for (const Tensor& t : {k, v})
    src.Require("all have as many heads and columns", SameDim(t, 2, q, 2), SameDim(t, 3, q, 3));
  src.Require(StaticDim(q, 2), StaticDim(q, 3), DType(q, kF32), NotZero(scale));
  src.Require(MinRank(keep, 2), SameDim(keep, -1, k, 1));
  src.Require("the fill is the lowest number there is, and scores are not scaled up",
              [=](const MatchContext& m) {
                return (m[fill] == Limits::lowest() || m[fill] == -Limits::infinity()) &&
                       std::abs(m[scale]) <= 1;
              });
  auto low = res.Constant([=](const MatchContext& m) {
    const ir::Type number = m.context()->TensorType(ir::DataType::kF32, {});
    return m.context()->DenseAttrOf<float>(number, std::array{m[fill]});
  });
  auto mask = res.Op<ops::Where>()(keep, res.Constant(ScalarLike(q, 0)), low);
  res.Tensor(out) =
      res.Op<fused::Attention>({.scale = scale, .layout = AttentionLayout::kBshd})(q, k, v, mask);
}

// attention(split(q), split(k), split(v), mask) => split(com.microsoft.MultiHeadAttention(q, k, v, mask))
WEFT_RULE(FuseMultiHeadAttention, "onnxruntime", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto scale = src.Attr<float>("scale");
  const SplitHeads split(src, q, "q_shape"), k_split(src, k, "k_shape"), v_split(src, v, "v_shape");
  auto out = src.Op<fused::Attention>(
      {.scale = scale, .layout = AttentionLayout::kBshd, .fill = Any()})(
      src.Keep(split.heads), src.Keep(k_split.heads), src.Keep(v_split.heads), src.Optional(mask));
  src.Require("all have as many heads", SameDim(k_split.heads, 2, split.heads, 2));
  src.Require(SameType(out, split.heads), DType(q, kF32), NotZero(scale));
  RequireWholeMask(src, mask, split.heads, 1, k_split.heads, 1);
  auto attended = res.Op<microsoft::MultiHeadAttention>(
      {.num_heads = DimOf(split.heads, 2), .scale = scale})(q, k, v, res.None(), res.None(), mask);
  res.Tensor(out) = res.Like(split.reshape)(attended, split.shape);
}

// attention(q, k, v, mask) => split(com.microsoft.MultiHeadAttention(join(q), join(k), join(v), mask)), where no
// reshape makes the heads
WEFT_RULE(LowerToMultiHeadAttention, "onnxruntime", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto scale = src.Attr<float>("scale");
  auto out =
      src.Op<fused::Attention>({.scale = scale, .layout = AttentionLayout::kBshd, .fill = Any()})(
          q, k, v, src.Optional(mask));
  for (const Tensor& t : {k, v})
    src.Require("all have as many heads and columns", SameDim(t, 2, q, 2), SameDim(t, 3, q, 3));
  src.Require(StaticDim(q, 2), StaticDim(q, 3), DType(q, kF32), NotZero(scale));
  RequireWholeMask(src, mask, q, 1, k, 1);
  auto columns = res.ConstantInts([=](const MatchContext& m) {
    return Ints{0, 0, m[q].dim(2) * m[q].dim(3)};
  });
  const auto join = [&](const Tensor& x) { return res.Op<ops::Reshape>()(x, columns); };
  auto attended = res.Op<microsoft::MultiHeadAttention>({.num_heads = DimOf(q, 2), .scale = scale})(
      join(q), join(k), join(v), res.None(), res.None(), mask);
  res.Tensor(out) = res.Op<ops::Reshape>()(attended, res.ConstantInts([=](const MatchContext& m) {
    return Ints{0, 0, m[q].dim(2), m[q].dim(3)};
  }));
}

// transpose(attention(transpose(split(q)), k, v, mask)) => split(com.microsoft.MultiHeadAttention(q, k, v,
// mask)), with k and v as caches have them
WEFT_RULE(FuseCachedMultiHeadAttention, "onnxruntime", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto scale = src.Attr<float>("scale");
  const SplitHeads split(src, q, "shape");
  auto out = SwapHeads(
      src, src.Op<fused::Attention>({.scale = scale, .fill = Any()})(
               src.Keep(SwapHeads(src, src.Keep(split.heads))), k, v, src.Optional(mask)));
  src.Require("all have as many heads", SameDim(k, 1, split.heads, 2));
  src.Require(SameType(out, split.heads), DType(q, kF32), NotZero(scale));
  RequireWholeMask(src, mask, split.heads, 1, k, 2);
  auto attended = res.Op<microsoft::MultiHeadAttention>(
      {.num_heads = DimOf(split.heads, 2), .scale = scale})(q, k, v, res.None(), res.None(), mask);
  res.Tensor(out) = res.Like(split.reshape)(attended, split.shape);
}

// attention(q + bq, k + bk, v + bv, mask) => attention(q, k, v, [bq bk bv], mask)
WEFT_RULE(FuseMultiHeadAttentionBias, "onnxruntime", kReassociates) {
  auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
  auto bq = src.Tensor("bq"), bk = src.Tensor("bk"), bv = src.Tensor("bv");
  auto attention = src.Op<microsoft::MultiHeadAttention>(AnyAttrs());
  auto out = attention(q + bq, k + bk, v + bv, src.None(), src.None(), src.Optional(mask));
  src.Require(Rank(q, 3), Rank(k, 3), Rank(v, 3));
  for (auto [b, x] : {std::pair(bq, q), {bk, k}, {bv, v}})
    src.Require(PerChannel(b, x, -1)), src.Profitable(IsConstant(b));
  auto bias = res.Op<ops::Concat>({.axis = 0})(bq, bk, bv);
  res.Tensor(out) = res.Like(attention)(q, k, v, bias, res.None(), mask);
}

// com.microsoft.MultiHeadAttention(thirds of split(x . w + bias), mask) => com.microsoft.Attention(x, w, bias, mask).
// ONNX Runtime 1.30 does not survive one without a bias.
WEFT_RULE(FusePackedAttention, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), bias = src.Tensor("bias"),
       mask = src.Tensor("mask");
  auto heads = src.Attr<int64_t>("num_heads");
  auto scale = src.Attr<float>("scale");
  auto causal = src.Attr<int64_t>("unidirectional");
  auto product = src.Op<ops::MatMul>()(x, w);
  auto y = product + bias;
  const auto thirds = Several<3>(src.Op<ops::Split>(AnyAttrs(), {.axis = In{2, -1}}), y,
                                 src.Optional(src.Tensor("sizes")));
  auto out = src.Op<microsoft::MultiHeadAttention>(
      AnyAttrs(), {.num_heads = heads, .scale = scale, .unidirectional = causal})(
      thirds[0], thirds[1], thirds[2], src.None(), src.None(), src.Optional(mask));
  src.Require(DType(x, kF32), Rank(x, 3), Rank(w, 2), SameType(y, product));
  src.Require("all have as many columns", StaticDim(thirds[0], 2),
              SameDim(thirds[1], 2, thirds[0], 2), SameDim(thirds[2], 2, thirds[0], 2));
  src.Require(PerChannel(bias, w, 1));
  src.Profitable(IsConstant(bias));
  res.Tensor(out) =
      res.Op<microsoft::Attention>({.num_heads = heads, .scale = scale, .unidirectional = causal})(
          x, w, bias, res.None(), res.None(), mask);
}

}  // namespace weft::passes
