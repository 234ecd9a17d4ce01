// Beside the arithmetic simplifications of ai_system_graph_optimization.md (5.2.1): what x * 0 is
// for the logical operations. Exact. The answer takes the shape of the result, as a Broadcast.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/canonicalize/constant_math.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// and(x, false) => expand(false); or(x, true) => expand(true); operands in either order
class FoldDecidedLogic : public DrrPatternBase<FoldDecidedLogic> {
 public:
  static constexpr std::string_view kName = "fold-decided-logic";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra =
      "and(x, false) => expand(false), or(x, true) => expand(true)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto logic = src.OneOf<ops::And, ops::Or>();
    auto out = logic(x, src.Skip<ops::Expand>(c));

    src.RequireNativeCall("c decides the result", [=](const MatchContext& m) {
      return m[c].IsSplat(m.Is<ops::Or>(logic) ? 1 : 0);
    });
    src.RequireNativeCall("the shape of the result is known",
                          [=](const MatchContext& m) { return m[out].is_static(); });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Expand>()(
        res.Constant([=](const MatchContext& m) {
          return MakeScalar(m.context(), m[out].dtype(), m.Is<ops::Or>(logic) ? 1 : 0);
        }),
        res.ConstantInts([=](const MatchContext& m) { return m[out].shape(); }));
  }
};
WEFT_REGISTER_RULE(FoldDecidedLogic, "canonicalize");

}  // namespace
}  // namespace weft::passes
