#include "drr/drr.h"
#include "ir/dialects/fused/linear.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// linear(x, w, b) + r => linear(x, w, b, r)
class FuseLinearResidual : public DrrPatternBase<FuseLinearResidual> {
 public:
  static constexpr std::string_view kName = "fuse-linear-residual";
  static constexpr std::string_view kAlgebra = "linear(x, w, b) + r => linear(x, w, b, r)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto linear = src.Op<fused::Linear>({.transpose_w = Any()});
    auto y = linear(x, w, src.Optional(b));
    auto out = src.Op<ops::Add>()(y, r);

    src.RequireNativeCall("r has the shape of the product", [=](const MatchContext& m) {
      return m[r].is_static() && m[r].type() == m[y].type() && m[out].type() == m[y].type();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Linear>(AttrsOf(linear))(x, w, b, r);
  }
};
WEFT_REGISTER_RULE(FuseLinearResidual, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
