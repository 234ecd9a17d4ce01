#include "drr/drr.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// a(f(x, w, b, r)) => f(x, w, b, r) with activation a, f a linear or a conv2d
template <class Derived, class F>
class FuseActivation : public DrrPatternBase<Derived> {
 public:
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto f = src.Op<F>(AnyAttrs());
    auto a = src.OneOf<ops::Relu, ops::Sigmoid, ops::Tanh, ops::HardSwish, ops::HardSigmoid,
                       fused::Gelu>(AnyAttrs());
    auto out = a(f(x, w, src.Optional(b), src.Optional(r)));

    src.RequireNativeCall("there is no activation yet", [=](const MatchContext& m) {
      return m[f].activation == fused::Activation::kNone;
    });
    src.RequireNativeCall("a GELU is the exact one", [=](const MatchContext& m) {
      return !m.Is<fused::Gelu>(a) ||
             m.As<fused::Gelu>(a).approximate == fused::GeluApproximate::kNone;
    });

    auto kind = [=](const MatchContext& m) {
      if (m.Is<ops::Relu>(a)) return fused::Activation::kRelu;
      if (m.Is<ops::Sigmoid>(a)) return fused::Activation::kSigmoid;
      if (m.Is<ops::Tanh>(a)) return fused::Activation::kTanh;
      if (m.Is<ops::HardSwish>(a)) return fused::Activation::kHardSwish;
      if (m.Is<ops::HardSigmoid>(a)) return fused::Activation::kHardSigmoid;
      return fused::Activation::kGelu;
    };
    auto params = [=](const MatchContext& m) {
      if (!m.Is<ops::HardSigmoid>(a)) return Floats{};
      const auto attrs = m.As<ops::HardSigmoid>(a);
      return Floats{attrs.alpha, attrs.beta};
    };
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) =
        res.Op<F>(AttrsOf(f), {.activation = kind, .activation_params = params})(x, w, b, r);
  }
};

class FuseLinearActivation : public FuseActivation<FuseLinearActivation, fused::Linear> {
 public:
  static constexpr std::string_view kName = "fuse-linear-activation";
  static constexpr std::string_view kAlgebra = "a(linear(x, w, b, r)) => linear {activation = a}";
};
WEFT_REGISTER_RULE(FuseLinearActivation, "fuse-epilogue");

class FuseConvActivation : public FuseActivation<FuseConvActivation, fused::Conv2d> {
 public:
  static constexpr std::string_view kName = "fuse-conv-activation";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "a(conv2d(x, w, b, r)) => conv2d {activation = a}";
};
WEFT_REGISTER_RULE(FuseConvActivation, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
