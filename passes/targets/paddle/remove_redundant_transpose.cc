// The seed's first example in the typed spelling. The inner transpose may have other readers: the
// outer one no longer waits for it.
#include "drr/drr.h"
#include "ir/dialects/pd/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.transpose(pd.transpose(x, p), q) => pd.transpose(x, p[q])
class RemoveRedundantTranspose : public DrrPatternBase<RemoveRedundantTranspose> {
 public:
  static constexpr std::string_view kName = "remove-redundant-transpose";
  static constexpr std::string_view kSeed = "paddle";
  static constexpr std::string_view kAlgebra =
      "pd.transpose(pd.transpose(x, p), q) => pd.transpose(x, p[q])";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
    auto x = src.Tensor("x");
    auto inner = src.Keep(src.Op<pd::Transpose>({.perm = p})(x));
    auto outer = src.Op<pd::Transpose>({.perm = q})(inner);

    src.RequireNativeCall("p has every dimension that q names", [=](const MatchContext& m) {
      const auto rank = static_cast<int64_t>(m[p].size());
      for (int64_t axis : m[q])
        if (axis < 0 || axis >= rank) return false;
      return true;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<pd::Transpose>({.perm = [=](const MatchContext& m) {
      const Ints inner_perm = m[p];
      Ints perm;
      for (int64_t axis : m[q]) perm.push_back(inner_perm[static_cast<size_t>(axis)]);
      return perm;
    }})(x);
  }
};
WEFT_REGISTER_RULE(RemoveRedundantTranspose, "paddle");

}  // namespace
}  // namespace weft::passes
