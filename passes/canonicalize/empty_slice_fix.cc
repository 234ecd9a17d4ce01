// Seed: ascend_knowledge_base.md, EmptySliceFix. The seed drops an empty slice from any Concat; that
// is right only where the empty dimension is the one that is joined: [0,3] and [0,4] joined along
// axis 1 are [0,7].
#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// concat(xs, empty slice, ys) => concat(xs, ys)
class EmptySliceFix : public DrrPatternBase<EmptySliceFix> {
 public:
  static constexpr std::string_view kName = "empty-slice-fix";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra = "concat(xs, empty slice, ys) => concat(xs, ys)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto xs = src.Tensors("xs"), ys = src.Tensors("ys");
    auto axis = src.Attr<int64_t>("axis");
    auto data = src.Tensor("data"), starts = src.Tensor("starts"), ends = src.Tensor("ends");
    auto axes = src.Tensor("axes"), steps = src.Tensor("steps");
    auto slice =
        src.Keep(src.Op<ops::Slice>()(data, starts, ends, src.Optional(axes), src.Optional(steps)));
    auto out = src.Op<ops::Concat>({.axis = axis})(xs, slice, ys);

    src.RequireNativeCall("the slice is empty along the axis that is joined",
                          [=](const MatchContext& m) { return m[slice].dim(m[axis]) == 0; });
    src.RequireNativeCall("something else is joined",
                          [=](const MatchContext& m) { return !m[xs].empty() || !m[ys].empty(); });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Concat>({.axis = axis})(xs, ys);
  }
};
WEFT_REGISTER_RULE(EmptySliceFix, "canonicalize");

}  // namespace
}  // namespace weft::passes
