// Beside the arithmetic simplifications of ai_system_graph_optimization.md (5.2.1): the units of
// the logical operations. Exact.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// and(x, true), or(x, false), xor(x, false) => x, operands in either order
class RemoveLogicalUnit : public DrrPatternBase<RemoveLogicalUnit> {
 public:
  static constexpr std::string_view kName = "remove-logical-unit";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "and(x, true), or(x, false), xor(x, false) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto logic = src.OneOf<ops::And, ops::Or, ops::Xor>();
    auto out = logic(x, src.Skip<ops::Expand>(c));

    src.RequireNativeCall("c is the unit of the operation", [=](const MatchContext& m) {
      return m[c].IsSplat(m.Is<ops::And>(logic) ? 1 : 0);
    });
    src.RequireNativeCall("c does not change the shape of x", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[x].type(), m[out].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveLogicalUnit, "canonicalize");

}  // namespace
}  // namespace weft::passes
