// k arrives transposed, [B, H, D, T]; composing transposes takes care of the one added here.
#include "drr/drr.h"
#include "ir/dialects/fused/attention.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/normalization.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// softmax(scale * q k + mask) v => attention(q, transpose(k), v, mask)
class FuseAttention : public DrrPatternBase<FuseAttention> {
 public:
  static constexpr std::string_view kName = "fuse-attention";
  static constexpr std::string_view kAlgebra =
      "softmax(scale * q k + mask) v => attention(q, transpose(k), v, mask)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
    auto q_factor = src.Tensor("q_factor"), factor = src.Tensor("factor");
    auto divisor = src.Tensor("divisor");
    auto scaled_q = src.Either(src.Op<ops::Mul>()(q, q_factor), q);
    auto product = src.Op<ops::MatMul>()(scaled_q, k);
    auto scores = src.EitherOf(
        {src.Op<ops::Div>()(product, divisor), src.Op<ops::Mul>()(product, factor), product});
    auto masked = src.Either(src.Op<ops::Add>()(scores, mask), scores);
    auto p = src.Op<ops::Softmax>({.axis = In{-1, 3}})(masked);
    auto out = src.Op<ops::MatMul>()(p, v);

    src.RequireNativeCall(
        "q, k and v are f32 of rank 4 with the same batch and heads", [=](const MatchContext& m) {
          for (auto t : {q, k, v})
            if (m[t].rank() != 4 || m[t].dtype() != ir::DataType::kF32 ||
                !ir::SameDim(m[t].dim(0), m[q].dim(0)) || !ir::SameDim(m[t].dim(1), m[q].dim(1)))
              return false;
          return true;
        });
    src.RequireNativeCall("every scale is one non-zero constant", [=](const MatchContext& m) {
      for (auto t : {q_factor, factor, divisor})
        if (m.Has(t) && (!m[t].splat() || *m[t].splat() == 0 || m[t].type().NumElements() != 1))
          return false;
      return true;
    });
    src.RequireNativeCall("scaling and masking keep the shape of the scores",
                          [=](const MatchContext& m) {
                            return ir::ProvablySameType(m[masked].type(), m[product].type()) &&
                                   ir::ProvablySameType(m[scaled_q].type(), m[q].type());
                          });
    src.RequireNativeCall("the mask, if any, is f32 of rank 4 or less", [=](const MatchContext& m) {
      return !m.Has(mask) || (m[mask].dtype() == ir::DataType::kF32 && m[mask].has_rank());
    });

    ResultPattern res = src.ResultPattern();
    auto scale = [=](const MatchContext& m) {
      double s = 1;
      if (m.Has(q_factor)) s *= *m[q_factor].splat();
      if (m.Has(factor)) s *= *m[factor].splat();
      if (m.Has(divisor)) s /= *m[divisor].splat();
      return static_cast<float>(s);
    };
    auto untransposed_k = res.Op<ops::Transpose>({.perm = {0, 1, 3, 2}})(k);
    res.Tensor(out) = res.Op<fused::Attention>({.scale = scale})(q, untransposed_k, v, mask);
  }
};
WEFT_REGISTER_RULE(FuseAttention, "fuse-composite");

}  // namespace
}  // namespace weft::passes
