// So that it composes with the reshapes around it.
#include "drr/drr.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// flatten(x) => reshape(x, known shape)
class FlattenToReshape : public DrrPatternBase<FlattenToReshape> {
 public:
  static constexpr std::string_view kName = "flatten-to-reshape";
  static constexpr std::string_view kAlgebra = "flatten(x) => reshape(x, known shape)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Flatten>(AnyAttrs())(x);

    src.RequireNativeCall("the result's shape is known and has no dimension 0",
                          [=](const MatchContext& m) {
                            return m[out].is_static() && m[out].type().NumElements() > 0;
                          });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Reshape>()(
        x, res.ConstantInts([=](const MatchContext& m) { return m[out].shape(); }));
  }
};
WEFT_REGISTER_RULE(FlattenToReshape, "layout-cleanup");

}  // namespace
}  // namespace weft::passes
