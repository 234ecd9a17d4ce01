// The seed's second example, corrected: the weights are joined by columns (joining rows mixes the
// three matrices), the mask is passed on, and every permutation, reshape and the scale's bias are
// constrained.
#include "drr/drr.h"
#include "ir/dialects/pd.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

struct Head {
  Tensor w, bias, out;
  OpPattern<pd::FullIntArray> split;
};

// [B, S, D] -> [B, H, S, D / H], as named `s`
Head Project(SourcePattern& src, Tensor x, const std::string& s) {
  auto w = src.Tensor("w" + s), bias = src.Tensor("b" + s);
  auto split = src.Op<pd::FullIntArray>(AnyAttrs());
  auto sum = src.Op<pd::Add>()(src.Op<pd::MatMul>()(x, w), bias);
  auto heads = src.Op<pd::Reshape>()(sum, split())[0];
  return {w, bias, src.Op<pd::Transpose>({.perm = {0, 2, 1, 3}})(heads), split};
}

bool IsWeight(const BoundTensor& t) {
  const ir::Operation op = t.value() ? t.value().DefiningOp() : ir::Operation();
  return op && op.HasTrait(ir::kConstantLike);
}

// Whether adding `t` leaves a value of shape `to` as it is.
bool BroadcastsTo(const BoundTensor& t, const BoundTensor& to) {
  if (t.rank() < 0 || to.rank() < t.rank()) return false;
  for (int64_t axis = -t.rank(); axis < 0; ++axis)
    if (t.dim(axis) != 1 && !ir::SameDim(t.dim(axis), to.dim(axis))) return false;
  return true;
}

// softmax(alpha * Q . K^T [+ mask]) . V with Q, K, V = split_heads(x . W + b)
//   => pd.multihead_matmul(x, [Wq|Wk|Wv], [bq|bk|bv], mask?) {alpha, head_number}
class MultiheadMatmulFuse : public DrrPatternBase<MultiheadMatmulFuse> {
 public:
  static constexpr std::string_view kName = "multihead-matmul-fuse";
  static constexpr std::string_view kSeed = "paddle";
  static constexpr std::string_view kAlgebra =
      "softmax(alpha * Q . K^T [+ mask]) . V with Q, K, V = split_heads(x . W + b) => "
      "pd.multihead_matmul(x, [Wq|Wk|Wv], [bq|bk|bv], mask?)";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), mask = src.Tensor("mask");
    const Head q = Project(src, x, "q"), k = Project(src, x, "k"), v = Project(src, x, "v");
    auto alpha = src.Op<pd::Full>(AnyAttrs());
    // With no bias it does not matter where the bias is added.
    auto scaled = src.Op<pd::Scale>({.bias_after_scale = Any()})(q.out, alpha());
    auto logits = src.Op<pd::MatMul>({.transpose_y = true})(scaled, k.out);
    auto masked = src.Either(src.Op<pd::Add>()(logits, mask), logits);
    auto weights = src.Op<pd::Softmax>({.axis = In{-1, 3}})(masked);
    auto heads = src.Op<pd::MatMul>()(weights, v.out);
    auto merge = src.Op<pd::FullIntArray>(AnyAttrs());
    auto merged = src.Op<pd::Transpose>({.perm = {0, 2, 1, 3}})(heads);
    const Tensor out = src.Op<pd::Reshape>()(merged, merge())[0];

    src.RequireNativeCall("x is of rank 3",
                          [=](const MatchContext& m) { return m[x].rank() == 3; });
    src.RequireNativeCall("the weights are constant and alike, the biases one value per column",
                          [=](const MatchContext& m) {
                            const Shape dn = m[q.w].shape();
                            for (const Head& h : {q, k, v})
                              if (!IsWeight(m[h.w]) || !m[h.w].is_static() || dn.size() != 2 ||
                                  m[h.w].shape() != dn || m[h.bias].shape() != Shape{dn[1]})
                                return false;
                            return true;
                          });
    src.RequireNativeCall("the heads split the columns alike and merge undoes it",
                          [=](const MatchContext& m) {
                            const Ints s = m[q.split].value;
                            const int64_t n = m[q.w].dim(1);
                            return m[k.split].value == s && m[v.split].value == s &&
                                   s.size() == 4 && s[0] == 0 && s[1] == 0 && s[2] > 0 &&
                                   s[3] > 0 && s[2] * s[3] == n && m[merge].value == Ints{0, 0, n};
                          });
    src.RequireNativeCall("alpha is one number", [=](const MatchContext& m) {
      return m[alpha].shape == Ints{1} || m[alpha].shape.empty();
    });
    src.RequireNativeCall("mask, if any, broadcasts to the logits", [=](const MatchContext& m) {
      return !m.Has(mask) || BroadcastsTo(m[mask], m[logits]);
    });

    ResultPattern res = src.ResultPattern();
    auto cpu = [](const MatchContext& m) { return m.context()->VerbatimAttr("Place(cpu)"); };
    auto join = [&](float axis, Tensor a, Tensor b, Tensor c) {
      auto parts = res.Op<ir::CombineOp>()(a, b, c);
      return res.Op<pd::Concat>()(
          parts, res.Op<pd::Full>(
                     {.dtype = ir::DataType::kI32, .place = cpu, .shape = {1}, .value = axis})());
    };
    auto reshape = [&](ResultTensor t, auto dims) {
      return res.Op<pd::Reshape>()(t, res.Op<pd::FullIntArray>({.place = cpu, .value = dims})())[0];
    };
    // Columns, not rows: three [D, N] -> [D, 3N] -> [D, 3, N] keeps each W contiguous along N.
    auto w = reshape(join(1, q.w, k.w, v.w), [=](const MatchContext& m) {
      return Ints{-1, 3, m[q.w].dim(1)};
    });
    auto bias = reshape(join(0, q.bias, k.bias, v.bias), [](const MatchContext&) {
      return Ints{3, -1};
    });
    res.Tensor(out) = res.Op<pd::MultiheadMatmul>({
        .alpha = [=](const MatchContext& m) { return m[alpha].value; },
        .head_number = [=](const MatchContext& m) { return m[q.split].value[2]; },
    })(x, w, bias, mask);
  }
};
WEFT_REGISTER_RULE(MultiheadMatmulFuse, "paddle");

}  // namespace
}  // namespace weft::passes
