#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// dropout(x) => x, not training
class RemoveDropout : public DrrPatternBase<RemoveDropout> {
 public:
  static constexpr std::string_view kName = "remove-dropout";
  static constexpr std::string_view kAlgebra = "dropout(x) => x, not training";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), ratio = src.Tensor("ratio"), training = src.Tensor("training");
    auto out = src.Op<ops::Dropout>(AnyAttrs())(x, src.Optional(ratio), src.Optional(training));

    src.RequireNativeCall("training_mode is absent or false", [=](const MatchContext& m) {
      return !m.Has(training) || m[training].IsSplat(0);
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveDropout, "canonicalize");

}  // namespace
}  // namespace weft::passes
