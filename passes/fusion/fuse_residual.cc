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

// f(x, w, b) + r => f(x, w, b, r), f a linear or a conv2d
template <class Derived, class F>
class FuseResidual : public DrrPatternBase<Derived> {
 public:
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto f = src.Op<F>(AnyAttrs());
    auto y = f(x, w, src.Optional(b));
    auto out = src.Op<ops::Add>()(y, r);

    src.RequireNativeCall("there is no activation before the sum", [=](const MatchContext& m) {
      return m[f].activation == fused::Activation::kNone;
    });
    src.RequireNativeCall("r has the shape of the product", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[r].type(), m[y].type()) &&
             ir::ProvablySameType(m[out].type(), m[y].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<F>(AttrsOf(f))(x, w, b, r);
  }
};

class FuseLinearResidual : public FuseResidual<FuseLinearResidual, fused::Linear> {
 public:
  static constexpr std::string_view kName = "fuse-linear-residual";
  static constexpr std::string_view kAlgebra = "linear(x, w, b) + r => linear(x, w, b, r)";
};
WEFT_REGISTER_RULE(FuseLinearResidual, "fuse-epilogue");

class FuseConvResidual : public FuseResidual<FuseConvResidual, fused::Conv2d> {
 public:
  static constexpr std::string_view kName = "fuse-conv-residual";
  static constexpr std::string_view kAlgebra = "conv2d(x, w, b) + r => conv2d(x, w, b, r)";
};
WEFT_REGISTER_RULE(FuseConvResidual, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
