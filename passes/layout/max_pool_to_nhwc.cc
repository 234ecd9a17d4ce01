#include "drr/drr.h"
#include "ir/dialects/fused/pool.h"
#include "ir/dialects/onnx/auto_pad.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/pool.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// max_pool(x) => nchw(fused.max_pool2d(nhwc(x)))
class MaxPoolToNhwc : public DrrPatternBase<MaxPoolToNhwc> {
 public:
  static constexpr std::string_view kName = "max-pool-to-nhwc";
  static constexpr std::string_view kAlgebra = "max_pool(x) => nchw(fused.max_pool2d(nhwc(x)))";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto pool = src.Op<ops::MaxPool>(AnyAttrs());
    auto out = pool(x);

    src.RequireNativeCall("x is f32 of rank 4", [=](const MatchContext& m) {
      return m[x].rank() == 4 && m[x].dtype() == ir::DataType::kF32;
    });
    src.RequireNativeCall(
        "pads are explicit and indices are in row order", [=](const MatchContext& m) {
          return m[pool].auto_pad == ops::AutoPad::kNotSet && m[pool].storage_order == 0;
        });

    ResultPattern res = src.ResultPattern();
    auto nhwc = res.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(x);
    auto y = res.Op<fused::MaxPool2d>(AttrsOf(pool), {.ceil_mode = [=](const MatchContext& m) {
                                        return m[pool].ceil_mode != 0;
                                      }})(nhwc);
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(y);
  }
};
WEFT_REGISTER_RULE(MaxPoolToNhwc, "layout");

}  // namespace
}  // namespace weft::passes
