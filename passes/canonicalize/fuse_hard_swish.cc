#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// x * hard_sigmoid(x; 1/6, 1/2) => hard_swish(x)
class FuseHardSwish : public DrrPatternBase<FuseHardSwish> {
 public:
  static constexpr std::string_view kName = "fuse-hard-swish";
  static constexpr std::string_view kAlgebra = "x * hard_sigmoid(x; 1/6, 1/2) => hard_swish(x)";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto alpha = src.Attr<float>("alpha"), beta = src.Attr<float>("beta");
    auto gate = src.Op<ops::HardSigmoid>({.alpha = alpha, .beta = beta})(x);
    auto out = src.Op<ops::Mul>()(x, gate);

    src.RequireNativeCall("the slope is 1/6 and the offset 1/2", [=](const MatchContext& m) {
      return m[alpha] == static_cast<float>(1.0 / 6.0) && m[beta] == 0.5f;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::HardSwish>()(x);
  }
};
WEFT_REGISTER_RULE(FuseHardSwish, "canonicalize");

}  // namespace
}  // namespace weft::passes
