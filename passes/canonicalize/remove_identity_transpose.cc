#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// transpose(x, [0, 1, ..]) => x
class RemoveIdentityTranspose : public DrrPatternBase<RemoveIdentityTranspose> {
 public:
  static constexpr std::string_view kName = "remove-identity-transpose";
  static constexpr std::string_view kAlgebra = "transpose(x, [0, 1, ..]) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto p = src.Attr<Ints>("p");
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Transpose>({.perm = p})(x);

    src.RequireNativeCall("perm moves nothing", [=](const MatchContext& m) {
      const Ints perm = m[p];
      for (size_t i = 0; i < perm.size(); ++i)
        if (perm[i] != static_cast<int64_t>(i)) return false;
      return true;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveIdentityTranspose, "canonicalize");

}  // namespace
}  // namespace weft::passes
