#include "drr/drr.h"
#include "ir/dialects/fused/attention.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// transpose(attention(transpose(q), transpose(k), transpose(v))) => attention(q, k, v) in [B, S, H,
// D]
class AbsorbAttentionTransposes : public DrrPatternBase<AbsorbAttentionTransposes> {
 public:
  static constexpr std::string_view kName = "absorb-attention-transposes";
  static constexpr std::string_view kAlgebra =
      "transpose(attention(transpose(q), transpose(k), transpose(v))) => attention(q, k, v) in [B, "
      "S, H, D]";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto q = src.Tensor("q"), k = src.Tensor("k"), v = src.Tensor("v"), mask = src.Tensor("mask");
    auto scale = src.Attr<float>("scale");
    auto swap = [&](drr::Tensor t) { return src.Op<ops::Transpose>({.perm = {0, 2, 1, 3}})(t); };
    auto attention = src.Op<fused::Attention>({.scale = scale})(
        src.Keep(swap(q)), src.Keep(swap(k)), src.Keep(swap(v)), src.Optional(mask));
    auto out = swap(attention);

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Attention>(
        {.scale = scale, .layout = fused::AttentionLayout::kBshd})(q, k, v, mask);
  }
};
WEFT_REGISTER_RULE(AbsorbAttentionTransposes, "fuse-composite");

}  // namespace
}  // namespace weft::passes
