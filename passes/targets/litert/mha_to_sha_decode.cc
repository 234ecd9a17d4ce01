// mha-to-sha-decode: the attention of one new token, whose rows are its heads, becomes one attention
// for each head. Seed: litert_graph_to_graph.md, "Multi-head Attention Optimization", T = 1.
//
//   reshape(attention(q * s), [B, 1, N * H]) for q of [B, 1, N, H]
//     =>  reshape(concat(attention(part * s) of each part of split(q, 2), 3), [B, 1, N * H])
//
// The attention is that of passes/targets/litert/cached_attention.h. Exact. Of more tokens the rows are
// not in the order of the heads: mha-to-sha-prefill is for those. A pass and not a rule: N is free.
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

struct Decode {
  CachedAttention attention;
  ir::Operation out;  // the reshape
  Scaled q;           // [batch, 1, heads, size]
};

std::optional<Decode> DecodeOf(ir::Operation sum) {
  Decode d;
  d.out = OnlyUser<ops::Reshape>(sum.result());
  if (!d.out) return std::nullopt;
  const ir::Type joined = sum.result().type(), out = d.out.result().type();
  if (!joined.IsStatic() || joined.rank() != 4 || !out.IsStatic() ||
      out.shape() != ir::Shape{joined.dim(0), 1, joined.dim(2) * joined.dim(3)})
    return std::nullopt;
  const auto attention = FindCachedAttention(sum, joined.dim(2));
  const ir::Operation mul = attention ? attention->rows.DefiningOp() : ir::Operation();
  const auto q = mul && mul.Is<ops::Mul>() ? ScaledAlike(mul) : std::nullopt;
  if (!q) return std::nullopt;
  d.attention = *attention;
  d.q = *q;
  return d;
}

class MhaToShaDecode : public Pass {
 public:
  MhaToShaDecode()
      : Pass("mha-to-sha-decode", "the attention of one new token becomes one for each head",
             {.seed = "litert"}) {}

  absl::Status Run(ir::Program& program) override {
    ir::Rewriter rewriter(&program);
    for (const ir::Operation sum : Sums(program))
      if (sum.IsAlive())
        if (const auto decode = DecodeOf(sum)) Split(rewriter, *decode);
    return absl::OkStatus();
  }

 private:
  void Split(ir::Rewriter& rewriter, const Decode& d) {
    const ir::Type out = d.out.result().type();
    rewriter.SetInsertionPoint(d.out);
    rewriter.set_location(d.out.location());
    const ir::Value heads = SplitIntoHeads(rewriter, d.attention, d.q);
    rewriter.Replace(d.out,
                     {rewriter.Make<ops::Reshape>({heads, rewriter.ConstantInts(out.dims())})});
    rewriter.EraseWithDeadOperands(d.attention.sum);
    Count("attentions split");
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(MhaToShaDecode);

}  // namespace
}  // namespace weft::passes
