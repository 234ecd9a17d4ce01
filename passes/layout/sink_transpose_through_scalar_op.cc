#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// f(transpose(x, p), c) => transpose(f(x, c), p), c one constant
class SinkTransposeThroughScalarOp : public DrrPatternBase<SinkTransposeThroughScalarOp> {
 public:
  static constexpr std::string_view kName = "sink-transpose-through-scalar-op";
  static constexpr std::string_view kAlgebra =
      "f(transpose(x, p), c) => transpose(f(x, c), p), c one constant";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto p = src.Attr<Ints>("p");
    auto t = src.Keep(src.Op<ops::Transpose>({.perm = p})(x));
    auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Pow>();
    auto out = f(t, c);

    src.RequireNativeCall(
        "c is a constant of one element and no higher rank than x", [=](const MatchContext& m) {
          return m[c].is_constant() && m[c].type().NumElements() == 1 && m[c].rank() <= m[x].rank();
        });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, c));
  }
};
WEFT_REGISTER_RULE(SinkTransposeThroughScalarOp, "layout");

}  // namespace
}  // namespace weft::passes
