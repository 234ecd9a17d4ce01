#include "drr/drr.h"
#include "ir/dialects/onnx/tensor.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// concat(transpose(x, p), transpose(y, p), axis) => transpose(concat(x, y, p[axis]), p)
class SinkTransposesThroughConcat : public DrrPatternBase<SinkTransposesThroughConcat> {
 public:
  static constexpr std::string_view kName = "sink-transposes-through-concat";
  static constexpr std::string_view kAlgebra =
      "concat(transpose(x, p), transpose(y, p), axis) => transpose(concat(x, y, p[axis]), p)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto p = src.Attr<Ints>("p");
    auto axis = src.Attr<int64_t>("axis");
    auto out =
        src.Op<ops::Concat>({.axis = axis})(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)),
                                            src.Keep(src.Op<ops::Transpose>({.perm = p})(y)));

    ResultPattern res = src.ResultPattern();
    auto source_axis = [=](const MatchContext& m) {
      const Ints perm = m[p];
      const auto rank = static_cast<int64_t>(perm.size());
      return perm[m[axis] < 0 ? m[axis] + rank : m[axis]];
    };
    res.Tensor(out) =
        res.Op<ops::Transpose>({.perm = p})(res.Op<ops::Concat>({.axis = source_axis})(x, y));
  }
};
WEFT_REGISTER_RULE(SinkTransposesThroughConcat, "layout");

}  // namespace
}  // namespace weft::passes
