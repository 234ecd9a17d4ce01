#include "drr/drr.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/normalization.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// layer_normalization(x, gamma, beta) => fused.layer_norm(x, gamma, beta)
class LowerLayerNormalization : public DrrPatternBase<LowerLayerNormalization> {
 public:
  static constexpr std::string_view kName = "lower-layer-normalization";
  static constexpr std::string_view kAlgebra =
      "layer_normalization(x, gamma, beta) => fused.layer_norm(x, gamma, beta)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
    auto axis = src.Attr<int64_t>("axis");
    auto epsilon = src.Attr<float>("epsilon");
    auto out = src.Op<ops::LayerNormalization>({.axis = axis, .epsilon = epsilon})(
        x, gamma, src.Optional(beta));

    src.RequireNativeCall(
        "x is f32", [=](const MatchContext& m) { return m[x].dtype() == ir::DataType::kF32; });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::LayerNorm>({.axis = axis, .epsilon = epsilon})(x, gamma, beta);
  }
};
WEFT_REGISTER_RULE(LowerLayerNormalization, "fuse-composite");

}  // namespace
}  // namespace weft::passes
