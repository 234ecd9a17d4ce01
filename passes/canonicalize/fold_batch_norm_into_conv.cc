#include <algorithm>
#include <cmath>

#include "drr/drr.h"
#include "ir/dialects/onnx/conv.h"
#include "ir/dialects/onnx/normalization.h"
#include "passes/canonicalize/constant_math.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

bool PerChannel(const BoundTensor& t, int64_t channels) {
  return ConstantF32(t).has_value() && t.shape() == Shape{channels};
}

// batch_norm(conv(x, w, b)) => conv(x, w * s, (b - mean) * s + beta), s = gamma / sqrt(var +
// epsilon)
class FoldBatchNormIntoConv : public DrrPatternBase<FoldBatchNormIntoConv> {
 public:
  static constexpr std::string_view kName = "fold-batch-norm-into-conv";
  static constexpr std::string_view kAlgebra =
      "batch_norm(conv(x, w, b)) => conv(x, w * s, (b - mean) * s + beta), s = gamma / sqrt(var + "
      "epsilon)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
    auto gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
    auto mean = src.Tensor("mean"), var = src.Tensor("var");
    auto epsilon = src.Attr<float>("epsilon");
    auto conv = src.Op<ops::Conv>(AnyAttrs());
    auto y = conv(x, w, src.Optional(b));
    auto out = src.Op<ops::BatchNormalization>({.epsilon = epsilon, .momentum = Any()})(
        y, gamma, beta, mean, var);

    src.RequireNativeCall("w is an f32 constant of known shape", [=](const MatchContext& m) {
      return m[w].rank() >= 3 && ConstantF32(m[w]).has_value();
    });
    src.RequireNativeCall(
        "b, if any, is an f32 constant, one per channel",
        [=](const MatchContext& m) { return !m.Has(b) || PerChannel(m[b], m[w].dim(0)); });
    src.RequireNativeCall("gamma, beta, mean and var are f32 constants, one per channel",
                          [=](const MatchContext& m) {
                            const int64_t channels = m[w].dim(0);
                            for (auto t : {gamma, beta, mean, var})
                              if (!PerChannel(m[t], channels)) return false;
                            return true;
                          });
    src.RequireNativeCall("var + epsilon is positive", [=](const MatchContext& m) {
      const std::span<const float> variances = *ConstantF32(m[var]);
      for (float v : variances)
        if (!(v + m[epsilon] > 0)) return false;
      return true;
    });

    auto scale_of = [=](const MatchContext& m, int64_t channel) {
      const double variance = (*ConstantF32(m[var]))[channel];
      return (*ConstantF32(m[gamma]))[channel] / std::sqrt(variance + double{m[epsilon]});
    };
    ResultPattern res = src.ResultPattern();
    auto new_w = res.Constant([=](const MatchContext& m) {
      const auto weights = *ConstantF32(m[w]);
      const int64_t per_channel = m[w].type().NumElements() / std::max<int64_t>(1, m[w].dim(0));
      std::vector<double> scales;
      for (int64_t c = 0; c < m[w].dim(0); ++c) scales.push_back(scale_of(m, c));
      return MakeF32(m.context(), m[w].shape(),
                     [&](int64_t i) { return weights[i] * scales[i / per_channel]; });
    });
    auto new_b = res.Constant([=](const MatchContext& m) {
      return MakeF32(m.context(), m[mean].shape(), [&](int64_t c) {
        const double bias = m.Has(b) ? (*ConstantF32(m[b]))[c] : 0.0;
        return (bias - (*ConstantF32(m[mean]))[c]) * scale_of(m, c) + (*ConstantF32(m[beta]))[c];
      });
    });
    res.Tensor(out) = res.Op<ops::Conv>(AttrsOf(conv))(x, new_w, new_b);
  }
};
WEFT_REGISTER_RULE(FoldBatchNormIntoConv, "canonicalize");

}  // namespace
}  // namespace weft::passes
