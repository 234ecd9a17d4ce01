// Seed: ascend_knowledge_base.md, MergeConsecutiveConcat. The seed puts the inner operands first and
// compares axes as they are written; here operands stay in their places, and of rank 4 axis -1 is
// axis 3.
#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// concat(xs, concat(ys), zs) => concat(xs, ys, zs)
class MergeConsecutiveConcat : public DrrPatternBase<MergeConsecutiveConcat> {
 public:
  static constexpr std::string_view kName = "merge-consecutive-concat";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra = "concat(xs, concat(ys), zs) => concat(xs, ys, zs)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto xs = src.Tensors("xs"), ys = src.Tensors("ys"), zs = src.Tensors("zs");
    auto inner_axis = src.Attr<int64_t>("inner_axis"), axis = src.Attr<int64_t>("axis");
    auto inner = src.Keep(src.Op<ops::Concat>({.axis = inner_axis})(ys));
    auto out = src.Op<ops::Concat>({.axis = axis})(xs, inner, zs);

    src.RequireNativeCall("both join the same axis", [=](const MatchContext& m) {
      const int64_t rank = m[inner].rank();
      const auto normal = [rank](int64_t a) { return a < 0 ? a + rank : a; };
      return m[axis] == m[inner_axis] || (rank > 0 && normal(m[axis]) == normal(m[inner_axis]));
    });
    // The outer one may read it more than once: each place is a match of its own.
    src.RequireNativeCall("only the outer concat reads the inner one", [=](const MatchContext& m) {
      for (ir::Operation reader : m[inner].value().users())
        if (reader != m[out].value().DefiningOp()) return false;
      return true;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Concat>({.axis = axis})(xs, ys, zs);
  }
};
WEFT_REGISTER_RULE(MergeConsecutiveConcat, "canonicalize");

}  // namespace
}  // namespace weft::passes
