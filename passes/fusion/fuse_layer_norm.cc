#include <algorithm>

#include "drr/drr.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/reduce.h"
#include "passes/canonicalize/constant_math.h"
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

Shape LastDims(const Ints& axes, const BoundTensor& x) {
  const int64_t axis = FirstAxis(axes, x.rank());
  const Shape shape = x.shape();
  return axis < 0 ? shape : Shape(shape.begin() + axis, shape.end());
}

// Multiplication by ones and addition of zeros may have been simplified away, hence no gamma or no
// beta.
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
    auto scaled = src.Either(src.Op<ops::Mul>()(normalised, gamma), normalised);
    auto out = src.Either(src.Op<ops::Add>()(scaled, beta), scaled);

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
    auto is_last_dims = [=](const MatchContext& m, drr::Tensor t) {
      return m[t].is_static() && m[t].shape() == LastDims(m[axes], m[x]);
    };
    src.RequireNativeCall("the sizes of the last dimensions are known", [=](const MatchContext& m) {
      const Shape last = LastDims(m[axes], m[x]);
      return std::all_of(last.begin(), last.end(), ir::IsStaticDim);
    });
    src.RequireNativeCall("gamma, if any, is a constant of the shape of the last dimensions",
                          [=](const MatchContext& m) {
                            return !m.Has(gamma) ||
                                   (m[gamma].is_constant() && is_last_dims(m, gamma));
                          });
    src.RequireNativeCall(
        "beta, if any, has the shape of the last dimensions",
        [=](const MatchContext& m) { return !m.Has(beta) || is_last_dims(m, beta); });

    ResultPattern res = src.ResultPattern();
    auto scale = res.Constant([=](const MatchContext& m) {
      if (m.Has(gamma)) return m[gamma].constant();
      return MakeF32(m.context(), LastDims(m[axes], m[x]), [](int64_t) { return 1.0; });
    });
    res.Tensor(out) = res.Op<fused::LayerNorm>({
        .axis =
            [=](const MatchContext& m) { return FirstAxis(m[axes], m[x].rank()) - m[x].rank(); },
        .epsilon = [=](const MatchContext& m) { return static_cast<float>(*m[epsilon].splat()); },
    })(x, scale, beta);
  }
};
WEFT_REGISTER_RULE(FuseLayerNorm, "fuse-composite");

}  // namespace
}  // namespace weft::passes
