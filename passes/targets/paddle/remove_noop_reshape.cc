// A pd.reshape to the shape its operand has.
#include "drr/drr.h"
#include "ir/dialects/pd/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using namespace drr;  // the rule language

// pd.reshape(x, x's shape) => x
class RemoveNoopPdReshape : public DrrPatternBase<RemoveNoopPdReshape> {
 public:
  static constexpr std::string_view kName = "remove-noop-pd-reshape";
  static constexpr std::string_view kAlgebra = "pd.reshape(x, x's shape) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    const Tensor out = src.Op<pd::Reshape>()(x, src.Tensor("shape"))[0];

    src.RequireNativeCall("every dimension is surely the same", [=](const MatchContext& m) {
      if (m[x].rank() < 0 || m[x].rank() != m[out].rank()) return false;
      for (int64_t i = 0; i < m[x].rank(); ++i)
        if (!ir::SameDim(m[x].dim(i), m[out].dim(i))) return false;
      return true;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveNoopPdReshape, "paddle");

}  // namespace
}  // namespace weft::passes
