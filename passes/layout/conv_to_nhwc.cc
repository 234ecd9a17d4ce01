#include "drr/drr.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/onnx/auto_pad.h"
#include "ir/dialects/onnx/conv.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// conv(x, w, b) => nchw(fused.conv2d(nhwc(x), w, b))
class ConvToNhwc : public DrrPatternBase<ConvToNhwc> {
 public:
  static constexpr std::string_view kName = "conv-to-nhwc";
  static constexpr std::string_view kAlgebra = "conv(x, w, b) => nchw(fused.conv2d(nhwc(x), w, b))";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
    auto conv = src.Op<ops::Conv>(AnyAttrs());
    auto out = conv(x, w, src.Optional(b));

    src.RequireNativeCall("x and w are f32 of rank 4", [=](const MatchContext& m) {
      return m[x].rank() == 4 && m[w].rank() == 4 && m[x].dtype() == ir::DataType::kF32;
    });
    src.RequireNativeCall("w is a constant",
                          [=](const MatchContext& m) { return m[w].is_constant(); });
    src.RequireNativeCall("pads are explicit", [=](const MatchContext& m) {
      return m[conv].auto_pad == ops::AutoPad::kNotSet;
    });

    ResultPattern res = src.ResultPattern();
    auto nhwc = res.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(x);
    auto y = res.Op<fused::Conv2d>(AttrsOf(conv))(nhwc, w, b);
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(y);
  }
};
WEFT_REGISTER_RULE(ConvToNhwc, "layout");

}  // namespace
}  // namespace weft::passes
