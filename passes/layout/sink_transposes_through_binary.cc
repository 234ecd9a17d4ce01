#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// f(transpose(x, p), transpose(y, p)) => transpose(f(x, y), p), f elementwise
class SinkTransposesThroughBinary : public DrrPatternBase<SinkTransposesThroughBinary> {
 public:
  static constexpr std::string_view kName = "sink-transposes-through-binary";
  static constexpr std::string_view kAlgebra =
      "f(transpose(x, p), transpose(y, p)) => transpose(f(x, y), p), f elementwise";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto p = src.Attr<Ints>("p");
    auto f = src.OneOf<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Min, ops::Max>();
    auto out = f(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)),
                 src.Keep(src.Op<ops::Transpose>({.perm = p})(y)));

    src.RequireNativeCall("x and y have the same rank", [=](const MatchContext& m) {
      return m[x].has_rank() && m[x].rank() == m[y].rank();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Like(f)(x, y));
  }
};
WEFT_REGISTER_RULE(SinkTransposesThroughBinary, "layout");

}  // namespace
}  // namespace weft::passes
