#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// concat(transpose(x, p) of each x, axis) => transpose(concat(xs, p[axis]), p)
class SinkTransposesThroughConcat : public DrrPatternBase<SinkTransposesThroughConcat> {
 public:
  static constexpr std::string_view kName = "sink-transposes-through-concat";
  static constexpr std::string_view kAlgebra =
      "concat(transpose(x, p) of each x, axis) => transpose(concat(xs, p[axis]), p)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto xs = src.Tensors("xs");
    auto p = src.Attr<Ints>("p");
    auto axis = src.Attr<int64_t>("axis");
    auto transposed = src.Keep(src.Op<ops::Transpose>({.perm = p}).Each(xs));
    auto out = src.Op<ops::Concat>({.axis = axis})(transposed);

    ResultPattern res = src.ResultPattern();
    auto source_axis = [=](const MatchContext& m) {
      const Ints perm = m[p];
      const auto rank = static_cast<int64_t>(perm.size());
      return perm[m[axis] < 0 ? m[axis] + rank : m[axis]];
    };
    res.Tensor(out) =
        res.Op<ops::Transpose>({.perm = p})(res.Op<ops::Concat>({.axis = source_axis})(xs));
  }
};
WEFT_REGISTER_RULE(SinkTransposesThroughConcat, "layout");

}  // namespace
}  // namespace weft::passes
