// masked-softmax-select-to-add: attention that masks its scores with a Select becomes attention of
// single heads that adds a mask, which all attentions share. Seed: litert_graph_to_graph.md,
// "Multi-head Attention with MaskedSoftmax via Select".
//
//   keep = not_equal(reshape(mask, [B, 1, T, S]), 0); for each of its users, over all heads,
//   transpose(matmul(v^T, softmax(select(keep, (q * a) . (k * b)^T, C))^T), [0, 3, 1, 2])
//     =>  add = cast(equal(mask, 0)) * max(C, -65472); for each of them
//         pack(softmax((q_i * a) . (k_i * b)^T + add) . v_i of each head i, 2)
//         where q_i, k_i and v_i are unpack(q, 2), unpack(k, 2) and unpack(v, 2)
//
// A masked score is x + C afterwards and not C, which gives the same weights in every row that
// keeps an entry, as C is far below all scores; a row that keeps none had equal weights, and gets
// others. So the pass works only in runs that allow approximate numerics. The bound keeps the mask
// finite in f16, and 0 * -inf from being NaN. A pass and not a rule: the numbers of heads and of
// attentions are free, and all users of the condition change or none does.
#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/litert/attention_match.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace litert = ir::litert;

// The lowest f16, -65504, and room for the scores it is added to.
constexpr double kLowestMask = -65472;
// Constants above mask softly: scores could make up for them.
constexpr double kSoftMask = -1e4;

struct Mask {
  ir::Value mask, zero;
};
struct Attention {
  ir::Operation select, out;  // the last transpose
  Scaled q, k;
  ir::Value v;
  int64_t heads = 0;
  double masked = 0;  // C
};

// not_equal(reshape(mask, [B, 1, T, S]), 0)
std::optional<Mask> MaskOf(ir::Operation not_equal) {
  for (const uint32_t i : {0u, 1u}) {
    const ir::Value zero = not_equal.operand(1 - i);
    const ir::Operation reshape = not_equal.operand(i).DefiningOp();
    if (ir::ConstantSplat(zero) != 0.0 || zero.type().NumElements() != 1 ||
        zero.type().rank() > 3 || !reshape || !reshape.Is<ops::Reshape>())
      continue;
    const ir::Value mask = reshape.operand(0);
    const ir::Type from = mask.type(), to = reshape.result().type();
    if (!from.HasRank() || !to.HasRank() || from.rank() != 3 || to.rank() != 4) continue;
    if (ir::SameDim(from.dim(0), to.dim(0)) && to.dim(1) == 1 &&
        ir::SameDim(from.dim(1), to.dim(2)) && ir::SameDim(from.dim(2), to.dim(3)))
      return Mask{mask, zero};
  }
  return std::nullopt;
}

// transpose(x * factor, perm), for a factor of one element.
std::optional<Scaled> ScaledAndTransposed(ir::Value value, const ir::Ints& perm) {
  const auto transpose = SingleUseDef<ops::Transpose>(value);
  if (!transpose || !Permutes(transpose, perm)) return std::nullopt;
  const auto mul = SingleUseDef<ops::Mul>(transpose.operand(0));
  if (!mul) return std::nullopt;
  return ScaledBy(mul, [](ir::Value factor) {
    return factor.type().NumElements() == 1 && factor.type().rank() <= 3;
  });
}

// The number of heads, when all of q, k and v, [batch, length, heads, size], have as many; else 0.
int64_t HeadsOf(const Attention& a) {
  int64_t heads = 0;
  for (const ir::Value x : {a.q.x, a.k.x, a.v}) {
    if (!x.type().HasRank() || x.type().rank() != 4) return 0;
    const int64_t dim = x.type().dim(2);
    if (dim < 1 || (heads != 0 && heads != dim)) return 0;
    heads = dim;
  }
  return heads;
}

std::optional<Attention> AttentionOf(ir::Operation select) {
  Attention a{.select = select};
  const auto softmax = OnlyUser<ops::Softmax>(select.result());
  if (!softmax || !IsOverTheLastAxis(softmax)) return std::nullopt;
  const auto product = OnlyUser<litert::MatMul>(softmax.result(), 1);
  if (!product || !IsFloatProduct(product, /*adj_y=*/true)) return std::nullopt;
  a.out = OnlyUser<ops::Transpose>(product.result());
  const auto v = SingleUseDef<ops::Transpose>(product.operand(0));
  if (!a.out || !Permutes(a.out, {0, 3, 1, 2}) || !v || !Permutes(v, {0, 2, 3, 1}))
    return std::nullopt;
  a.v = v.operand(0);

  const auto scores = SingleUseDef<litert::MatMul>(select.operand(1));
  if (!scores || !IsFloatProduct(scores, /*adj_y=*/false) ||
      !ir::ProvablySameType(scores.result().type(), select.result().type()))
    return std::nullopt;
  const auto q = ScaledAndTransposed(scores.operand(0), {0, 2, 1, 3});
  const auto k = ScaledAndTransposed(scores.operand(1), {0, 2, 3, 1});
  const auto masked = ir::ConstantSplat(select.operand(2));
  if (!q || !k || !masked || !(*masked <= kSoftMask)) return std::nullopt;
  a.q = *q, a.k = *k, a.masked = *masked;
  a.heads = HeadsOf(a);
  return a.heads > 0 ? std::optional(a) : std::nullopt;
}

// All users of the condition; nothing unless each is an attention, of one C and element type.
std::vector<Attention> AttentionsOf(ir::Operation not_equal) {
  std::vector<Attention> attentions;
  for (const ir::OpOperand use : not_equal.result().uses()) {
    if (!use.owner().Is<litert::Select>() || use.index() != 0) return {};
    const auto a = AttentionOf(use.owner());
    if (!a) return {};
    const Attention& first = attentions.empty() ? *a : attentions.front();
    if (a->masked != first.masked || a->v.type().dtype() != first.v.type().dtype()) return {};
    attentions.push_back(*a);
  }
  return attentions;
}

class MaskedSoftmaxSelectToAdd : public Pass {
 public:
  MaskedSoftmaxSelectToAdd()
      : Pass("masked-softmax-select-to-add",
             "attention masked by Select becomes single heads that add a shared mask",
             {.seed = "litert", .numerics = drr::NumericClass::kApproximate}) {}

  absl::Status Run(ir::Program& program) override {
    std::vector<ir::Operation> conditions;
    ir::Walk(program, [&](ir::Operation op) {
      if (op.Is<litert::NotEqual>()) conditions.push_back(op);
    });
    ir::Rewriter rewriter(&program);
    for (const ir::Operation not_equal : conditions) {
      const auto mask = MaskOf(not_equal);
      const std::vector<Attention> attentions = AttentionsOf(not_equal);
      if (mask && !attentions.empty()) Rewrite(rewriter, not_equal, *mask, attentions);
    }
    return absl::OkStatus();
  }

 private:
  void Rewrite(ir::Rewriter& rewriter, ir::Operation not_equal, const Mask& mask,
               const std::vector<Attention>& attentions) {
    const ir::DataType dtype = attentions.front().v.type().dtype();
    rewriter.SetInsertionPoint(not_equal);
    rewriter.set_location(not_equal.location());
    const ir::Value masked = rewriter.Make<ops::Cast>(
        {rewriter.Make<ops::Equal>({mask.mask, mask.zero})}, {.to = dtype});
    const double lowest = std::max(attentions.front().masked, kLowestMask);
    const ir::Value add = rewriter.Make<ops::Mul>({masked, rewriter.ConstantScalar(dtype, lowest)});
    for (const Attention& found : attentions) {
      const auto a = AttentionOf(found.select);  // again: it may read what another one was
      if (!a) continue;
      const ir::Operation product = a->out.operand(0).DefiningOp();
      rewriter.SetInsertionPoint(a->out);
      rewriter.set_location(a->out.location());
      rewriter.Replace(a->out, {HeadByHead(rewriter, *a, add)});
      rewriter.EraseWithDeadOperands(product);
    }
    Count("attentions split", attentions.size());
    MarkChanged();
  }

  static ir::Value HeadByHead(ir::Rewriter& rewriter, const Attention& a, ir::Value add) {
    const auto unpacked = [&](ir::Value x) {
      return rewriter.Create<litert::Unpack>({x}, {.axis = 2}, static_cast<int>(a.heads));
    };
    const ir::Operation q = unpacked(a.q.x), k = unpacked(a.k.x), v = unpacked(a.v);
    std::vector<ir::Value> heads;
    for (uint32_t i = 0; i < q.num_results(); ++i) {
      const ir::Value q_i = rewriter.Make<ops::Mul>({q.result(i), a.q.factor});
      const ir::Value k_i = rewriter.Make<ops::Transpose>(
          {rewriter.Make<ops::Mul>({k.result(i), a.k.factor})}, {.perm = {0, 2, 1}});
      const ir::Value scores = rewriter.Make<litert::MatMul>({q_i, k_i});
      const ir::Value weights =
          rewriter.Make<ops::Softmax>({rewriter.Make<ops::Add>({scores, add})});
      heads.push_back(rewriter.Make<litert::MatMul>({weights, v.result(i)}));
    }
    return rewriter.Make<litert::Pack>(heads, {.axis = 2});
  }
};
WEFT_REGISTER_PASS(MaskedSoftmaxSelectToAdd);

}  // namespace
}  // namespace weft::passes
