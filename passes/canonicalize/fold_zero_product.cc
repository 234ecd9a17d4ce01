// Of the arithmetic simplifications in ai_system_graph_optimization.md (5.2.1): X * 0 and
// X * Broadcast(0). Exact for integers. Of floats it holds only without NaN, infinities and signs
// of zero: NaN * 0 and inf * 0 are NaN, -3 * 0 is -0; hence two rules, the second approximate.
//
// The zero takes the shape of the result, which is that of x or larger, as a Broadcast: whether it
// is written out is up to constant-folding, which knows what that costs.
#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/canonicalize/constant_math.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

template <class Derived>
class FoldZero : public DrrPatternBase<Derived> {
 public:
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto out = src.Op<ops::Mul>()(x, src.Skip<ops::Expand>(c));

    src.RequireNativeCall("c is 0 everywhere",
                          [=](const MatchContext& m) { return m[c].IsSplat(0); });
    src.RequireNativeCall(Derived::kWhichTypes, [=](const MatchContext& m) {
      return ir::IsFloat(m[c].dtype()) == Derived::kOfFloats;
    });
    src.RequireNativeCall("the shape of the result is known",
                          [=](const MatchContext& m) { return m[out].is_static(); });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Expand>()(
        res.Constant(
            [=](const MatchContext& m) { return MakeScalar(m.context(), m[out].dtype(), 0); }),
        res.ConstantInts([=](const MatchContext& m) { return m[out].shape(); }));
  }
};

// integer x * 0, 0 * x => expand(0)
class FoldIntegerZeroProduct : public FoldZero<FoldIntegerZeroProduct> {
 public:
  static constexpr std::string_view kName = "fold-integer-zero-product";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "integer x * 0, 0 * x => expand(0)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;
  static constexpr bool kOfFloats = false;
  static constexpr std::string_view kWhichTypes = "x is of integers";
};
WEFT_REGISTER_RULE(FoldIntegerZeroProduct, "canonicalize");

// x * 0, 0 * x => expand(0)
class FoldZeroProduct : public FoldZero<FoldZeroProduct> {
 public:
  static constexpr std::string_view kName = "fold-zero-product";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "x * 0, 0 * x => expand(0)";
  static constexpr NumericClass kNumerics = NumericClass::kApproximate;
  static constexpr bool kOfFloats = true;
  static constexpr std::string_view kWhichTypes = "x is of floats";
};
WEFT_REGISTER_RULE(FoldZeroProduct, "canonicalize");

}  // namespace
}  // namespace weft::passes
