#include "drr/drr.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"
#include "passes/rules/activation.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// clip(conv2d(x, w, b, r), low, high) => conv2d(x, w, b, r) with activation clip
class FuseConvClip : public DrrPatternBase<FuseConvClip> {
 public:
  static constexpr std::string_view kName = "fuse-conv-clip";
  static constexpr std::string_view kAlgebra =
      "clip(conv2d(x, w, b, r), low, high) => conv2d(x, w, b, r) with activation clip";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto low = src.Tensor("low"), high = src.Tensor("high");
    auto inner = src.Op<fused::Conv2d>(
        {.strides = Any(), .pads = Any(), .dilations = Any(), .group = Any()});
    auto out = src.Op<ops::Clip>()(inner(x, w, src.Optional(b), src.Optional(r)), src.Optional(low),
                                   src.Optional(high));

    src.RequireNativeCall("the bounds are constants, or not given", [=](const MatchContext& m) {
      return (!m.Has(low) || m[low].splat()) && (!m.Has(high) || m[high].splat());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Conv2d>(
        AttrsOf(inner),
        {.activation = fused::Activation::kClip, .activation_params = [=](const MatchContext& m) {
           return ClipParams(m, low, high);
         }})(x, w, b, r);
  }
};
WEFT_REGISTER_RULE(FuseConvClip, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
