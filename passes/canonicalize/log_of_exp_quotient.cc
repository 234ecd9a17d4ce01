// Of the arithmetic simplifications in ai_system_graph_optimization.md (5.2.1). Approximate: the
// result is finite where exp(x) overflows or the quotient underflows (log(exp(100) / 2) is inf in
// f32, x - log(y) is 99.3), and inf instead of NaN at y = -0. Else it differs by rounding: 1e-5 for
// |x| <= 80 and y in (1e-3, 1e3). Negative y give NaN before and after.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// log(exp(x) / y) => x - log(y)
class LogOfExpQuotient : public DrrPatternBase<LogOfExpQuotient> {
 public:
  static constexpr std::string_view kName = "log-of-exp-quotient";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "log(exp(x) / y) => x - log(y)";
  static constexpr NumericClass kNumerics = NumericClass::kApproximate;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<ops::Log>()(src.Op<ops::Div>()(src.Op<ops::Exp>()(x), y));

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Sub>()(x, res.Op<ops::Log>()(y));
  }
};
WEFT_REGISTER_RULE(LogOfExpQuotient, "canonicalize");

}  // namespace
}  // namespace weft::passes
