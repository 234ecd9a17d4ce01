#include <algorithm>

#include "drr/drr.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/reduce.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// The first of `axes` when they are, in any order, the last dimensions; else -1.
int64_t FirstAxis(Ints axes, int64_t rank) {
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return -1;
  return axes.empty() ? -1 : axes[0];
}

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gamma + beta => layer_norm(x, gamma, beta)
class FuseLayerNorm : public DrrPatternBase<FuseLayerNorm> {
 public:
  static constexpr std::string_view kName = "fuse-layer-norm";
  static constexpr std::string_view kAlgebra =
      "(x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gamma + beta => layer_norm(x, gamma, "
      "beta)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
    auto two = src.Tensor("two"), epsilon = src.Tensor("epsilon");
    auto axes = src.Attr<Ints>("axes");
    auto d = src.Op<ops::Sub>()(x, src.Op<ops::ReduceMean>({.axes = axes})(x));
    auto square = src.Either(src.Op<ops::Pow>()(d, two), src.Op<ops::Mul>()(d, d));
    auto variance = src.Op<ops::ReduceMean>({.axes = axes})(square);
    auto deviation = src.Op<ops::Sqrt>()(src.Op<ops::Add>()(variance, epsilon));
    auto normalised = src.Op<ops::Div>()(d, deviation);
    auto scaled = src.Op<ops::Mul>()(normalised, gamma);
    auto out = src.Op<ops::Add>()(scaled, beta);

    src.RequireNativeCall("the exponent is 2",
                          [=](const MatchContext& m) { return !m.Has(two) || m[two].IsSplat(2); });
    src.RequireNativeCall("epsilon is a positive constant", [=](const MatchContext& m) {
      const auto value = m[epsilon].splat();
      return value && *value > 0 && m[epsilon].type().NumElements() == 1;
    });
    src.RequireNativeCall("x is f32 of known rank", [=](const MatchContext& m) {
      return m[x].dtype() == ir::DataType::kF32 && m[x].rank() >= 1;
    });
    src.RequireNativeCall("both means are over the last dimensions", [=](const MatchContext& m) {
      return FirstAxis(m[axes], m[x].rank()) >= 0;
    });
    src.RequireNativeCall(
        "gamma and beta have the shape of the last dimensions", [=](const MatchContext& m) {
          const int64_t axis = FirstAxis(m[axes], m[x].rank());
          const Shape shape = m[x].shape();
          const Shape last(shape.begin() + std::max<int64_t>(axis, 0), shape.end());
          return axis >= 0 && m[gamma].is_static() && m[gamma].shape() == last &&
                 m[beta].shape() == last;
        });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::LayerNorm>({
        .axis =
            [=](const MatchContext& m) { return FirstAxis(m[axes], m[x].rank()) - m[x].rank(); },
        .epsilon = [=](const MatchContext& m) { return static_cast<float>(*m[epsilon].splat()); },
    })(x, gamma, beta);
  }
};
WEFT_REGISTER_RULE(FuseLayerNorm, "fuse-composite");

}  // namespace
}  // namespace weft::passes
