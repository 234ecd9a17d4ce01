// Beside the arithmetic simplifications of ai_system_graph_optimization.md (5.2.1), where it is the
// unit of one more operation. Exact: pow(x, 1) is x itself, for NaN, infinities and -0 too. The
// exponent may be of another element type than x; the result has that of x.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// pow(x, 1) => x
class RemoveUnitExponent : public DrrPatternBase<RemoveUnitExponent> {
 public:
  static constexpr std::string_view kName = "remove-unit-exponent";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "pow(x, 1) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto out = src.Op<ops::Pow>()(x, src.Skip<ops::Expand>(c));

    src.RequireNativeCall("c is 1 everywhere",
                          [=](const MatchContext& m) { return m[c].IsSplat(1); });
    src.RequireNativeCall("c does not change the shape of x", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[x].type(), m[out].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveUnitExponent, "canonicalize");

}  // namespace
}  // namespace weft::passes
