// The second example of paddle_drr_pass_demo.txt, corrected: the weights are joined by columns
// (joining rows mixes the three matrices), the mask is passed on, and every permutation, reshape
// and the scale's bias are constrained.
#include "ir/dialects/pd.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

struct Projection {
  Tensor w, bias, heads;
};

// [B, S, D] -> [B, H, S, D / H], as named `s`
Projection Project(SourcePattern& src, Tensor x, const std::string& s, Attr<Ints> split) {
  auto w = src.Tensor("w" + s), bias = src.Tensor("b" + s);
  auto sum = src.Op<pd::Add>()(src.Op<pd::MatMul>()(x, w), bias);
  auto shape = src.Op<pd::FullIntArray>(AnyAttrs(), {.value = split})();
  const Tensor heads = src.Op<pd::Reshape>()(sum, shape)[0];
  return {w, bias, src.Op<pd::Transpose>({.perm = {0, 2, 1, 3}})(heads)};
}

// The shape [D, 3, N] of the joined weights, where [0, 0, H, N / H] splits N columns into heads and
// [0, 0, N] merges them again.
std::optional<Ints> JoinedShape(int64_t n, const Ints& split, const Ints& merge) {
  if (split.size() != 4 || split[0] != 0 || split[1] != 0 || split[2] <= 0 || split[3] <= 0)
    return std::nullopt;
  if (n % split[2] != 0 || n / split[2] != split[3] || merge != Ints{0, 0, n}) return std::nullopt;
  return Ints{-1, 3, n};
}

}  // namespace

// softmax(alpha * Q . K^T [+ mask]) . V with Q, K, V = split_heads(x . W + b)
//   => pd.multihead_matmul(x, [Wq|Wk|Wv], [bq|bk|bv], mask?) {alpha, head_number}
WEFT_RULE(FusePdMultiheadMatmul, "paddle", kReassociates, .seed = "paddle",
          .aliases = {"multihead-matmul-fuse"},
          .algebra =
              "softmax(alpha * Q . K^T [+ mask]) . V with Q, K, V = split_heads(x . W + b) "
              "=> pd.multihead_matmul(x, [Wq|Wk|Wv], [bq|bk|bv], mask?)") {
  auto x = src.Tensor("x"), mask = src.Tensor("mask");
  auto split = src.Attr<Ints>("split"), merge = src.Attr<Ints>("merge");
  auto alpha = src.Attr<float>("alpha");
  const auto q = Project(src, x, "q", split), k = Project(src, x, "k", split),
             v = Project(src, x, "v", split);
  auto full = src.Op<pd::Full>(AnyAttrs(), {.value = alpha});
  auto factor = full();
  // With no bias it does not matter where the bias is added.
  auto scaled = src.Op<pd::Scale>({.bias_after_scale = Any()})(q.heads, factor);
  auto logits = src.Op<pd::MatMul>({.transpose_y = true})(scaled, k.heads);
  auto masked = src.Either(src.Op<pd::Add>()(logits, mask), logits);
  auto weights = src.Op<pd::Softmax>({.axis = In{-1, 3}})(masked);
  auto merged =
      src.Op<pd::Transpose>({.perm = {0, 2, 1, 3}})(src.Op<pd::MatMul>()(weights, v.heads));
  auto shape = src.Op<pd::FullIntArray>(AnyAttrs(), {.value = merge});
  const Tensor out = src.Op<pd::Reshape>()(merged, shape())[0];

  src.Require(Rank(x, 3), Rank(q.w, 2), StaticShape(q.w));
  for (const Projection& p : {q, k, v})
    src.Require(IsConstantLike(p.w), SameShape(p.w, q.w), PerChannel(p.bias, q.w, 1));
  src.Require("alpha is one number", OneElement(factor), MaxRank(factor, 1));
  src.Require(IsFloat(factor), Broadcasts(IfGiven(mask), logits));  // pd.full truncates integers
  auto joined_shape = src.Let("the heads split the columns and merge undoes it", [=](auto& m) {
    return JoinedShape(m[q.w].dim(1), m[split], m[merge]);
  });

  auto join = [&](float axis, Tensor a, Tensor b, Tensor c) {
    return res.Op<pd::Concat>()(res.Op<ir::CombineOp>()(a, b, c),
                                res.Like(full, {.dtype = kI32, .shape = {1}, .value = axis})());
  };
  // Columns, not rows: three [D, N] -> [D, 3N] -> [D, 3, N] keeps each W contiguous along N.
  auto w =
      res.Op<pd::Reshape>()(join(1, q.w, k.w, v.w), res.Like(shape, {.value = joined_shape})())[0];
  auto bias = res.Op<pd::Reshape>()(join(0, q.bias, k.bias, v.bias),
                                    res.Like(shape, {.value = {3, -1}})())[0];
  res.Tensor(out) = res.Op<pd::MultiheadMatmul>(
      {.alpha = alpha, .head_number = ElementAt(split, 2)})(x, w, bias, mask);
}

}  // namespace weft::passes
