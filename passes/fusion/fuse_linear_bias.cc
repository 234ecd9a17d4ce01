#include "drr/drr.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// linear(x, w) + b => linear(x, w, b)
class FuseLinearBias : public DrrPatternBase<FuseLinearBias> {
 public:
  static constexpr std::string_view kName = "fuse-linear-bias";
  static constexpr std::string_view kAlgebra = "linear(x, w) + b => linear(x, w, b)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
    auto transpose_w = src.Attr<bool>("transpose_w");
    auto out = src.Op<ops::Add>()(src.Op<fused::Linear>({.transpose_w = transpose_w})(x, w), b);

    src.RequireNativeCall("b is a constant, one value per column", [=](const MatchContext& m) {
      return m[b].is_constant() && m[b].shape() == Shape{m[out].dim(-1)};
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Linear>({.transpose_w = transpose_w})(x, w, b);
  }
};
WEFT_REGISTER_RULE(FuseLinearBias, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
