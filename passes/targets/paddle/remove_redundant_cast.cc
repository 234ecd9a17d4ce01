// Two casts are one when the first loses nothing: f32 -> f64 -> f32 is, f32 -> f16 -> f32 is not.
#include "drr/drr.h"
#include "ir/dialects/pd/elementwise.h"
#include "ir/lossless_cast.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.cast(pd.cast(x, t), s) => pd.cast(x, s), where t holds every value of x's type
class RemoveRedundantCast : public DrrPatternBase<RemoveRedundantCast> {
 public:
  static constexpr std::string_view kName = "remove-redundant-cast";
  static constexpr std::string_view kSeed = "paddle";
  static constexpr std::string_view kAlgebra =
      "pd.cast(pd.cast(x, t), s) => pd.cast(x, s), where t holds every value of x's type";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto t = src.Attr<ir::DataType>("t"), s = src.Attr<ir::DataType>("s");
    auto x = src.Tensor("x");
    auto inner = src.Keep(src.Op<pd::Cast>({.dtype = t})(x));
    auto outer = src.Op<pd::Cast>({.dtype = s})(inner);

    src.RequireNativeCall("casting straight to s gives the same", [=](const MatchContext& m) {
      return ir::CastsCompose(m[x].dtype(), m[t], m[s]);
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<pd::Cast>({.dtype = s})(x);
  }
};
WEFT_REGISTER_RULE(RemoveRedundantCast, "paddle");

}  // namespace
}  // namespace weft::passes
