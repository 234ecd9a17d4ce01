#include "drr/drr.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// conv2d(x, w, b) + r => conv2d(x, w, b, r)
class FuseConvResidual : public DrrPatternBase<FuseConvResidual> {
 public:
  static constexpr std::string_view kName = "fuse-conv-residual";
  static constexpr std::string_view kAlgebra = "conv2d(x, w, b) + r => conv2d(x, w, b, r)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
    auto conv = src.Op<fused::Conv2d>(
        {.strides = Any(), .pads = Any(), .dilations = Any(), .group = Any()});
    auto y = conv(x, w, src.Optional(b));
    auto out = src.Op<ops::Add>()(y, r);

    src.RequireNativeCall("r has the shape of the convolution", [=](const MatchContext& m) {
      return m[r].is_static() && m[r].type() == m[y].type() && m[out].type() == m[y].type();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Conv2d>(AttrsOf(conv))(x, w, b, r);
  }
};
WEFT_REGISTER_RULE(FuseConvResidual, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
