#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// x * 1, 1 * x, x / 1 => x
class RemoveUnitFactor : public DrrPatternBase<RemoveUnitFactor> {
 public:
  static constexpr std::string_view kName = "remove-unit-factor";
  static constexpr std::string_view kAlgebra = "x * 1, 1 * x, x / 1 => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto out = src.OneOf<ops::Mul, ops::Div>()(x, c);

    src.RequireNativeCall("c is 1 everywhere",
                          [=](const MatchContext& m) { return m[c].IsSplat(1); });
    src.RequireNativeCall("c does not change the shape of x", [=](const MatchContext& m) {
      return m[x].type() == m[out].type() && m[x].is_static();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveUnitFactor, "canonicalize");

}  // namespace
}  // namespace weft::passes
