// mha-to-sha-prefill: the attention of a prompt, for which the rows of all heads were joined in one
// matrix, becomes one attention for each head. Seed: litert_graph_to_graph.md, "Gemma3 (Prefill)".
//
//   rows = reshape(transpose(q * s, [0, 2, 1, 3]), [B, 1, N * T, H])
//   reshape(transpose(reshape(attention(rows), [B, N, T, H]), [0, 2, 1, 3]), [B, T, N * H])
//     =>  parts = split(reshape(transpose(q, [0, 2, 1, 3]), [B, 1, N * T, H]), 2)
//         reshape(concat(attention(part * s) of each part, 3), [B, T, N * H])
//
// The attention is that of passes/targets/litert/cached_attention.h. Exact. A pass and not a rule: N is
// free.
#include <optional>
#include <vector>

#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "passes/pass_registry.h"
#include "passes/targets/litert/cached_attention.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

struct Prefill {
  CachedAttention attention;
  ir::Operation rows, out;  // the reshapes at both ends
  Scaled q;                 // [batch, length, heads, size]
};

// [batch, length, heads * size] from [batch, 1, heads * length, size]: its last reshape.
ir::Operation HeadsSideBySide(ir::Operation sum) {
  const auto apart = OnlyUser<ops::Reshape>(sum.result());
  if (!apart) return {};
  const auto turned = OnlyUser<ops::Transpose>(apart.result());
  if (!turned || !Permutes(turned, {0, 2, 1, 3})) return {};
  return OnlyUser<ops::Reshape>(turned.result());
}

std::optional<Prefill> PrefillOf(ir::Operation sum) {
  Prefill p;
  p.out = HeadsSideBySide(sum);
  if (!p.out) return std::nullopt;
  const ir::Type turned = p.out.operand(0).type(), out = p.out.result().type();
  if (!turned.IsStatic() || turned.rank() != 4 || !out.IsStatic()) return std::nullopt;
  const int64_t batch = turned.dim(0), length = turned.dim(1), heads = turned.dim(2);
  const auto attention = FindCachedAttention(sum, heads);
  if (!attention || attention->length != length || sum.result().type().dim(0) != batch ||
      out.shape() != ir::Shape{batch, length, heads * turned.dim(3)})
    return std::nullopt;
  p.attention = *attention;

  p.rows = attention->rows.DefiningOp();
  if (!p.rows || !p.rows.Is<ops::Reshape>()) return std::nullopt;
  const auto transpose = SingleUseDef<ops::Transpose>(p.rows.operand(0));
  if (!transpose || !Permutes(transpose, {0, 2, 1, 3})) return std::nullopt;
  const auto mul = SingleUseDef<ops::Mul>(transpose.operand(0));
  const auto q = mul ? ScaledAlike(mul) : std::nullopt;
  if (!q || q->x.type().shape() != ir::Shape{attention->rows.type().dim(0), length, heads,
                                             attention->rows.type().dim(3)})
    return std::nullopt;
  p.q = *q;
  return p;
}

class MhaToShaPrefill : public Pass {
 public:
  MhaToShaPrefill()
      : Pass("mha-to-sha-prefill", "a prompt's attention becomes one for each head",
             {.seed = "litert"}) {}

  absl::Status Run(ir::Program& program) override {
    ir::Rewriter rewriter(&program);
    for (const ir::Operation sum : Sums(program))
      if (sum.IsAlive())
        if (const auto prefill = PrefillOf(sum)) Split(rewriter, *prefill);
    return absl::OkStatus();
  }

 private:
  void Split(ir::Rewriter& rewriter, const Prefill& p) {
    const ir::Operation turned_back = p.out.operand(0).DefiningOp();
    const ir::Type out = p.out.result().type();
    rewriter.SetInsertionPoint(p.out);
    rewriter.set_location(p.out.location());
    const ir::Value turned = rewriter.Make<ops::Transpose>({p.q.x}, {.perm = {0, 2, 1, 3}});
    const ir::Value rows = rewriter.Make<ops::Reshape>(
        {turned, rewriter.ConstantInts(p.attention.rows.type().dims())});
    const ir::Value heads = SplitIntoHeads(rewriter, p.attention, {rows, p.q.factor});
    rewriter.Replace(p.out,
                     {rewriter.Make<ops::Reshape>({heads, rewriter.ConstantInts(out.dims())})});
    rewriter.EraseWithDeadOperands(turned_back);
    Count("attentions split");
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(MhaToShaPrefill);

}  // namespace
}  // namespace weft::passes
