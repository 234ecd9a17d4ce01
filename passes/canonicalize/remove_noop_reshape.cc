#include "drr/drr.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// reshape(x, shape of x) => x
class RemoveNoopReshape : public DrrPatternBase<RemoveNoopReshape> {
 public:
  static constexpr std::string_view kName = "remove-noop-reshape";
  static constexpr std::string_view kAlgebra = "reshape(x, shape of x) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), shape = src.Tensor("shape");
    auto out = src.Op<ops::Reshape>(AnyAttrs())(x, shape);

    src.RequireNativeCall("x has the target's shape already", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[x].type(), m[out].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveNoopReshape, "canonicalize");

}  // namespace
}  // namespace weft::passes
