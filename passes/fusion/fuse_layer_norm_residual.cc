#include "drr/drr.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// layer_norm(x + r) => layer_norm(x, residual r)
class FuseLayerNormResidual : public DrrPatternBase<FuseLayerNormResidual> {
 public:
  static constexpr std::string_view kName = "fuse-layer-norm-residual";
  static constexpr std::string_view kAlgebra = "layer_norm(x + r) => layer_norm(x, residual r)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), r = src.Tensor("r"), gamma = src.Tensor("gamma");
    auto beta = src.Tensor("beta");
    auto norm = src.Op<fused::LayerNorm>(AnyAttrs());
    auto out = norm(src.Op<ops::Add>()(x, r), gamma, src.Optional(beta));

    src.RequireNativeCall("x and r have one shape", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[x].type(), m[r].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::LayerNorm>(AttrsOf(norm))(x, gamma, beta, r);
  }
};
WEFT_REGISTER_RULE(FuseLayerNormResidual, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
