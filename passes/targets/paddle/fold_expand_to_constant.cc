// A tensor of equal elements, expanded, is a larger one. The shape is that of the result: the seed
// lists an expand that is no legal broadcast but states what it makes.
#include "drr/drr.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.expand(pd.full(v), shape) => pd.full(v) {shape}
class FoldExpandToConstant : public DrrPatternBase<FoldExpandToConstant> {
 public:
  static constexpr std::string_view kName = "fold-expand-to-constant";
  static constexpr std::string_view kSeed = "paddle";
  static constexpr std::string_view kAlgebra = "pd.expand(pd.full(v), shape) => pd.full(v) {shape}";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto full = src.Op<pd::Full>(AnyAttrs());
    auto out = src.Op<pd::Expand>()(full(), src.Tensor("shape"));

    src.RequireNativeCall("the shape of the result is known", [=](const MatchContext& m) {
      return m[out].is_static() && m[out].dtype() == m[full].dtype;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<pd::Full>(
        AttrsOf(full), {.shape = [=](const MatchContext& m) { return m[out].shape(); }})();
  }
};
WEFT_REGISTER_RULE(FoldExpandToConstant, "paddle");

}  // namespace
}  // namespace weft::passes
