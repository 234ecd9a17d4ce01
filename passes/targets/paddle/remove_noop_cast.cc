// A pd.cast to the type its operand has.
#include "drr/drr.h"
#include "ir/dialects/pd/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.cast(x, x's type) => x
class RemoveNoopPdCast : public DrrPatternBase<RemoveNoopPdCast> {
 public:
  static constexpr std::string_view kName = "remove-noop-pd-cast";
  static constexpr std::string_view kAlgebra = "pd.cast(x, x's type) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto to = src.Attr<ir::DataType>("to");
    auto x = src.Tensor("x");
    auto out = src.Op<pd::Cast>({.dtype = to})(x);

    src.RequireNativeCall("x has that type", [=](const MatchContext& m) {
      return m[x].dtype() != ir::DataType::kNull && m[x].dtype() == m[to];
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveNoopPdCast, "paddle");

}  // namespace
}  // namespace weft::passes
