#include "drr/drr.h"
#include "ir/dialects/fused/pool.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/pool.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// global_average_pool(x) => nchw(fused.global_average_pool2d(nhwc(x)))
class GlobalAveragePoolToNhwc : public DrrPatternBase<GlobalAveragePoolToNhwc> {
 public:
  static constexpr std::string_view kName = "global-average-pool-to-nhwc";
  static constexpr std::string_view kAlgebra =
      "global_average_pool(x) => nchw(fused.global_average_pool2d(nhwc(x)))";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::GlobalAveragePool>()(x);

    src.RequireNativeCall("x is f32 of rank 4", [=](const MatchContext& m) {
      return m[x].rank() == 4 && m[x].dtype() == ir::DataType::kF32;
    });

    ResultPattern res = src.ResultPattern();
    auto nhwc = res.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(x);
    res.Tensor(out) =
        res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(res.Op<fused::GlobalAveragePool2d>()(nhwc));
  }
};
WEFT_REGISTER_RULE(GlobalAveragePoolToNhwc, "layout");

}  // namespace
}  // namespace weft::passes
