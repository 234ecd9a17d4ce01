// Of two reshapes in a row only the last counts. The inner one may have other readers.
#include "drr/drr.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.reshape(pd.reshape(x, s), t) => pd.reshape(x, t)
class RemoveRedundantReshape : public DrrPatternBase<RemoveRedundantReshape> {
 public:
  static constexpr std::string_view kName = "remove-redundant-reshape";
  static constexpr std::string_view kSeed = "paddle";
  static constexpr std::string_view kAlgebra =
      "pd.reshape(pd.reshape(x, s), t) => pd.reshape(x, t)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), t = src.Tensor("t");
    auto [inner, inner_xshape] = src.Op<pd::Reshape>()(x, src.Tensor("s"));
    src.Keep(inner);
    src.Keep(inner_xshape);
    const Tensor middle = inner;
    auto [outer, outer_xshape] = src.Op<pd::Reshape>()(middle, t);

    src.RequireNativeCall(
        "t is known and the dimensions it copies are x's too", [=](const MatchContext& m) {
          const auto target = pd::IntsOf(m[t].value());
          if (!target) return false;
          for (size_t i = 0; i < target->size(); ++i) {
            const auto axis = static_cast<int64_t>(i);
            if ((*target)[i] == 0 && !ir::SameDim(m[middle].dim(axis), m[x].dim(axis)))
              return false;
          }
          return true;
        });

    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<pd::Reshape>()(x, t)[0];
  }
};
WEFT_REGISTER_RULE(RemoveRedundantReshape, "paddle");

}  // namespace
}  // namespace weft::passes
