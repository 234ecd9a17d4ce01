#include <limits>

#include "drr/drr.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// clip(f(x, w, b, r), low, high) => f(x, w, b, r) with activation clip, f a linear or a conv2d
template <class Derived, class F>
class FuseClip : public DrrPatternBase<Derived> {
 public:
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto low = src.Tensor("low"), high = src.Tensor("high");
    auto f = src.Op<F>(AnyAttrs());
    auto out = src.Op<ops::Clip>()(f(x, w, src.Optional(b), src.Optional(r)), src.Optional(low),
                                   src.Optional(high));

    src.RequireNativeCall("there is no activation yet", [=](const MatchContext& m) {
      return m[f].activation == fused::Activation::kNone;
    });
    src.RequireNativeCall("the bounds are constants, or not given", [=](const MatchContext& m) {
      return (!m.Has(low) || m[low].splat()) && (!m.Has(high) || m[high].splat());
    });

    auto bound = [](const MatchContext& m, drr::Tensor t, float otherwise) {
      return m.Has(t) ? static_cast<float>(*m[t].splat()) : otherwise;
    };
    auto params = [=](const MatchContext& m) {
      return Floats{bound(m, low, std::numeric_limits<float>::lowest()),
                    bound(m, high, std::numeric_limits<float>::max())};
    };
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<F>(AttrsOf(f), {.activation = fused::Activation::kClip,
                                             .activation_params = params})(x, w, b, r);
  }
};

class FuseLinearClip : public FuseClip<FuseLinearClip, fused::Linear> {
 public:
  static constexpr std::string_view kName = "fuse-linear-clip";
  static constexpr std::string_view kAlgebra =
      "clip(linear(x, w, b, r), low, high) => linear {activation = clip}";
};
WEFT_REGISTER_RULE(FuseLinearClip, "fuse-epilogue");

class FuseConvClip : public FuseClip<FuseConvClip, fused::Conv2d> {
 public:
  static constexpr std::string_view kName = "fuse-conv-clip";
  static constexpr std::string_view kAlgebra =
      "clip(conv2d(x, w, b, r), low, high) => conv2d {activation = clip}";
};
WEFT_REGISTER_RULE(FuseConvClip, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
