#include "drr/drr.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"
#include "passes/rules/activation.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// f(conv2d(x, w, b, r)) => conv2d(x, w, b, r) with activation f
class FuseConvActivation : public DrrPatternBase<FuseConvActivation> {
 public:
  static constexpr std::string_view kName = "fuse-conv-activation";
  static constexpr std::string_view kAlgebra =
      "f(conv2d(x, w, b, r)) => conv2d(x, w, b, r) with activation f";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto inner = src.Op<fused::Conv2d>(
        {.strides = Any(), .pads = Any(), .dilations = Any(), .group = Any()});
    auto f = src.OneOf<ops::Relu, ops::Sigmoid, ops::Tanh, ops::HardSwish, ops::HardSigmoid,
                       fused::Gelu>(AnyAttrs());
    auto out = f(inner(x, w, src.Optional(b), src.Optional(r)));

    src.RequireNativeCall("a GELU is the exact one", [=](const MatchContext& m) {
      return !m.Is<fused::Gelu>(f) ||
             m.As<fused::Gelu>(f).approximate == fused::GeluApproximate::kNone;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Conv2d>(
        AttrsOf(inner),
        {.activation = [=](const MatchContext& m) { return ActivationOf(m, f); },
         .activation_params = [=](const MatchContext& m) { return ActivationParamsOf(m, f); }})(
        x, w, b, r);
  }
};
WEFT_REGISTER_RULE(FuseConvActivation, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
