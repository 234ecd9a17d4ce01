// Transposes sink towards the outputs, where they meet others and cancel.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// f(transpose(x, p)) => transpose(f(x), p), f elementwise
class SinkTransposeThroughUnary : public DrrPatternBase<SinkTransposeThroughUnary> {
 public:
  static constexpr std::string_view kName = "sink-transpose-through-unary";
  static constexpr std::string_view kAlgebra =
      "f(transpose(x, p)) => transpose(f(x), p), f elementwise";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto p = src.Attr<Ints>("p");
    auto f = src.OneOf<ops::Relu, ops::Sigmoid, ops::Tanh, ops::HardSwish, ops::HardSigmoid,
                       ops::LeakyRelu, ops::Elu, ops::Erf, ops::Exp, ops::Log, ops::Sqrt, ops::Abs,
                       ops::Neg, ops::Reciprocal>(AnyAttrs());
    auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)));

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x));
  }
};
WEFT_REGISTER_RULE(SinkTransposeThroughUnary, "layout");

}  // namespace
}  // namespace weft::passes
