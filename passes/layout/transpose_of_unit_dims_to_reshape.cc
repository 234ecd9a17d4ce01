#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// transpose(x, p) that moves only dimensions of size 1 => reshape(x)
class TransposeOfUnitDimsToReshape : public DrrPatternBase<TransposeOfUnitDimsToReshape> {
 public:
  static constexpr std::string_view kName = "transpose-of-unit-dims-to-reshape";
  static constexpr std::string_view kAlgebra =
      "transpose(x, p) that moves only dimensions of size 1 => reshape(x)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto p = src.Attr<Ints>("p");
    auto out = src.Op<ops::Transpose>({.perm = p})(x);

    src.RequireNativeCall("the shape is known and has no dimension 0", [=](const MatchContext& m) {
      return m[x].is_static() && m[x].type().NumElements() > 0;
    });
    src.RequireNativeCall("dimensions larger than 1 keep their order", [=](const MatchContext& m) {
      int64_t last = -1;
      for (int64_t axis : m[p]) {
        if (m[x].dim(axis) == 1) continue;
        if (axis < last) return false;
        last = axis;
      }
      return true;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Reshape>()(
        x, res.ConstantInts([=](const MatchContext& m) { return m[out].shape(); }));
  }
};
WEFT_REGISTER_RULE(TransposeOfUnitDimsToReshape, "layout-cleanup");

}  // namespace
}  // namespace weft::passes
