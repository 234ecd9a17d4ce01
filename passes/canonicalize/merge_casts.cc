// Seed: ascend_knowledge_base.md, MergeCasts. The seed drops the first of any two casts; here only
// where no value changes: not f32 -> i32 -> f32 (1.7 became 1), not f64 -> f32 -> f16 (rounded
// twice), not i64 -> i32 -> i64 (2^40 became 0). A tree of casts is hung on its root, reader by
// reader. Of the seed's other two cases, equal casts are merged by
// common-subexpression-elimination, and casts to the same type are dropped by remove-noop-cast.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/lossless_cast.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// cast(cast(x, t), s) => cast(x, s), where casting by way of t loses nothing
class MergeCasts : public DrrPatternBase<MergeCasts> {
 public:
  static constexpr std::string_view kName = "merge-casts";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "cast(cast(x, t), s) => cast(x, s), where casting by way of t loses nothing";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto t = src.Attr<ir::DataType>("t"), s = src.Attr<ir::DataType>("s");
    auto x = src.Tensor("x");
    auto inner = src.Keep(src.Op<ops::Cast>({.to = t})(x));
    auto outer = src.Op<ops::Cast>({.to = s})(inner);

    src.RequireNativeCall("casting straight to s gives the same", [=](const MatchContext& m) {
      return ir::CastsCompose(m[x].dtype(), m[t], m[s]);
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<ops::Cast>({.to = s})(x);
  }
};
WEFT_REGISTER_RULE(MergeCasts, "canonicalize");

}  // namespace
}  // namespace weft::passes
