#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// cast(x, type of x) => x
class RemoveNoopCast : public DrrPatternBase<RemoveNoopCast> {
 public:
  static constexpr std::string_view kName = "remove-noop-cast";
  static constexpr std::string_view kAlgebra = "cast(x, type of x) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Cast>(AnyAttrs())(x);

    src.RequireNativeCall("x has the target's element type already", [=](const MatchContext& m) {
      return m[x].dtype() != ir::DataType::kNull && m[x].dtype() == m[out].dtype();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveNoopCast, "canonicalize");

}  // namespace
}  // namespace weft::passes
