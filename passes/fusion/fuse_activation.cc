#include "drr/drr.h"
#include "ir/dialects/fused/activation_ops.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/matmul.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace fused = ir::fused;
using namespace drr;  // the rule language

template <class... Ops>
auto OneOfThem(SourcePattern& src, fused::OpList<Ops...>) {
  return src.OneOf<Ops...>(AnyAttrs());
}

// a(f(x, w, b, r)) => f(x, w, b, r) with activation a, f a linear or a conv2d
template <class Derived, class F>
class FuseActivation : public DrrPatternBase<Derived> {
 public:
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto f = src.Op<F>(AnyAttrs());
    auto a = OneOfThem(src, fused::ActivationOps());
    auto out = a(f(x, w, src.Optional(b), src.Optional(r)));

    src.RequireNativeCall("there is no activation yet", [=](const MatchContext& m) {
      return m[f].activation == fused::Activation::kNone;
    });
    src.RequireNativeCall("a GELU is the exact one", [=](const MatchContext& m) {
      Floats ignored;
      return fused::ActivationOf(m.op(a.id()), &ignored) != fused::Activation::kNone;
    });

    auto kind = [=](const MatchContext& m) {
      Floats ignored;
      return fused::ActivationOf(m.op(a.id()), &ignored);
    };
    auto params = [=](const MatchContext& m) {
      Floats params;
      fused::ActivationOf(m.op(a.id()), &params);
      return params;
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
