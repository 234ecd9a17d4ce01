// Written with the shape itself: a 0 or -1 in t would mean another thing for x.
#include "drr/drr.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// reshape(reshape(x, s), t) => reshape(x, t)
class ComposeReshapes : public DrrPatternBase<ComposeReshapes> {
 public:
  static constexpr std::string_view kName = "compose-reshapes";
  static constexpr std::string_view kAlgebra = "reshape(reshape(x, s), t) => reshape(x, t)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
    auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, s));
    auto out = src.Op<ops::Reshape>(AnyAttrs())(inner, t);

    src.RequireNativeCall("the target shape is known and no dimension of it is 0",
                          [=](const MatchContext& m) {
                            if (!m[out].is_static()) return false;
                            for (int64_t d : m[out].shape())
                              if (d == 0) return false;
                            return true;
                          });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Reshape>()(
        x, res.ConstantInts([=](const MatchContext& m) { return m[out].shape(); }));
  }
};
WEFT_REGISTER_RULE(ComposeReshapes, "canonicalize");

}  // namespace
}  // namespace weft::passes
