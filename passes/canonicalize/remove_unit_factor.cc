// Of the arithmetic simplifications in ai_system_graph_optimization.md (5.2.1): X * 1 and
// X * Broadcast(1). Exact for every element type, NaN, infinities and -0 included.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// x * 1, 1 * x, x / 1 => x, also where 1 is expanded
class RemoveUnitFactor : public DrrPatternBase<RemoveUnitFactor> {
 public:
  static constexpr std::string_view kName = "remove-unit-factor";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "x * 1, 1 * x, x / 1 => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto out = src.OneOf<ops::Mul, ops::Div>()(x, src.Skip<ops::Expand>(c));

    src.RequireNativeCall("c is 1 everywhere",
                          [=](const MatchContext& m) { return m[c].IsSplat(1); });
    src.RequireNativeCall("c does not change the shape of x", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[x].type(), m[out].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveUnitFactor, "canonicalize");

}  // namespace
}  // namespace weft::passes
