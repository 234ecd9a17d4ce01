// x + 0 turns -0 into +0; x alone keeps it.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// x + 0, 0 + x, x - 0 => x
class RemoveZeroTerm : public DrrPatternBase<RemoveZeroTerm> {
 public:
  static constexpr std::string_view kName = "remove-zero-term";
  static constexpr std::string_view kAlgebra = "x + 0, 0 + x, x - 0 => x";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto out = src.OneOf<ops::Add, ops::Sub>()(x, c);

    src.RequireNativeCall("c is 0 everywhere",
                          [=](const MatchContext& m) { return m[c].IsSplat(0); });
    src.RequireNativeCall("c does not change the shape of x", [=](const MatchContext& m) {
      return m[x].type() == m[out].type() && m[x].is_static();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveZeroTerm, "canonicalize");

}  // namespace
}  // namespace weft::passes
