// A pd.transpose that leaves every dimension where it is.
#include "drr/drr.h"
#include "ir/dialects/pd/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.transpose(x, [0, 1, ...]) => x
class RemoveNoopPdTranspose : public DrrPatternBase<RemoveNoopPdTranspose> {
 public:
  static constexpr std::string_view kName = "remove-noop-pd-transpose";
  static constexpr std::string_view kAlgebra = "pd.transpose(x, [0, 1, ...]) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto p = src.Attr<Ints>("p");
    auto x = src.Tensor("x");
    auto out = src.Op<pd::Transpose>({.perm = p})(x);

    src.RequireNativeCall("no dimension moves", [=](const MatchContext& m) {
      const Ints perm = m[p];
      for (size_t i = 0; i < perm.size(); ++i)
        if (perm[i] != static_cast<int64_t>(i)) return false;
      return true;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveNoopPdTranspose, "paddle");

}  // namespace
}  // namespace weft::passes
