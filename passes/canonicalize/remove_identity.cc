#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// identity(x) => x
class RemoveIdentity : public DrrPatternBase<RemoveIdentity> {
 public:
  static constexpr std::string_view kName = "remove-identity";
  static constexpr std::string_view kAlgebra = "identity(x) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Identity>()(x);

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveIdentity, "canonicalize");

}  // namespace
}  // namespace weft::passes
