// Normalisations as ONNX Runtime has them in one operator, the sum before them included.
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/microsoft/activation.h"
#include "ir/dialects/microsoft/normalization.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;

// The operators normalise the last dimension only.
void RequireSkip(SourcePattern& src, const Tensor& x, const Tensor& skip, const Tensor& gamma) {
  src.Require(DType(x, kF32), SameType(x, skip), MinRank(x, 2), MaxRank(x, 3), Rank(gamma, 1));
}

// The operator's results are the normal, a mean and a deviation that nobody asks for, and the sum.
struct SkipResults {
  ResultTensor normal, sum;
};
template <class O, class... In>
SkipResults WithSum(const ResultOpPattern<O>& op, const In&... in) {
  const auto results = Several<4>(op, in...);
  return {results[0], results[3]};
}

// A layer_norm of x + skip, or of (x + bias) + skip, where bias is a constant number for each column.
enum class Bias { kNone, kOfOneTerm };
enum class Sum { kPrivate, kUsed };

void FuseSkipLayerNormOf(SourcePattern& src, ResultPattern& res, Sum use, Bias biased) {
  auto x = src.Tensor("x"), skip = src.Tensor("skip");
  auto gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Attr<float>("epsilon");
  const auto fuse = [&](const Tensor& sum, const Operand& bias) {
    auto norm = src.Op<fused::LayerNorm>({.axis = Any(), .epsilon = epsilon});
    auto out = norm(sum, gamma, src.Optional(beta));
    auto fused = res.Op<microsoft::SkipLayerNormalization>({.epsilon = epsilon});
    if (use == Sum::kPrivate) {
      res.Tensor(out) = fused(x, skip, gamma, beta, bias);
    } else {
      auto made = WithSum(fused, x, skip, gamma, beta, bias);
      res.Tensor(out) = made.normal;
      res.Tensor(sum) = made.sum;
    }
  };
  RequireSkip(src, x, skip, gamma);
  if (biased == Bias::kNone) return fuse(x + skip, res.None());
  auto bias = src.Tensor("bias");
  src.Require(IsConstant(bias), PerChannel(bias, x, -1));
  fuse(x + bias + skip, bias);
}

}  // namespace

// rms_norm(x, gamma) => SimplifiedLayerNormalization(x, gamma)
WEFT_RULE(LowerRmsNormToMicrosoft, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma");
  auto epsilon = src.Attr<float>("epsilon");
  auto out = src.Op<fused::RmsNorm>({.epsilon = epsilon})(x, gamma);
  src.Require(DType(x, kF32), PerChannel(gamma, x, -1));
  res.Tensor(out) = res.Op<microsoft::SimplifiedLayerNormalization>({.epsilon = epsilon})(x, gamma);
}

// layer_norm(x + skip, gamma, beta) => com.microsoft.SkipLayerNormalization, beta optional
WEFT_RULE(FuseSkipLayerNorm, "onnxruntime", kReassociates) {
  FuseSkipLayerNormOf(src, res, Sum::kPrivate, Bias::kNone);
}

// layer_norm(x, gamma, beta, residual skip, x_bias) => SkipLayerNormalization with that bias
WEFT_RULE(LowerResidualLayerNorm, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), skip = src.Tensor("skip"), bias = src.Tensor("bias");
  auto gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Attr<float>("epsilon");
  auto norm = src.Op<fused::LayerNorm>({.axis = Any(), .epsilon = epsilon});
  auto out = norm(x, gamma, src.Optional(beta), skip, src.Optional(bias));
  RequireSkip(src, x, skip, gamma);
  auto fused = res.Op<microsoft::SkipLayerNormalization>({.epsilon = epsilon});
  res.Tensor(out) = fused(x, skip, gamma, beta, bias);
}

// y = x + skip, layer_norm(y, gamma, beta) => SkipLayerNormalization, which gives y too. Opt-in: on CPUs
// ONNX Runtime 1.30 takes 7 % longer for a small encoder with it than for Add and LayerNormalization.
WEFT_RULE(FuseSkipLayerNormSum, "onnxruntime", kReassociates, .opt_in = true) {
  FuseSkipLayerNormOf(src, res, Sum::kUsed, Bias::kNone);
}

// layer_norm(x + bias + skip, gamma, beta) => SkipLayerNormalization with that bias
WEFT_RULE(FuseSkipLayerNormBias, "onnxruntime", kReassociates) {
  FuseSkipLayerNormOf(src, res, Sum::kPrivate, Bias::kOfOneTerm);
}

// y = x + bias + skip, layer_norm(y, gamma, beta) => SkipLayerNormalization with that bias, and y. Opt-in
// like the former.
WEFT_RULE(FuseSkipLayerNormBiasSum, "onnxruntime", kReassociates, .opt_in = true) {
  FuseSkipLayerNormOf(src, res, Sum::kUsed, Bias::kOfOneTerm);
}

// rms_norm(x + skip, gamma) => com.microsoft.SkipSimplifiedLayerNormalization
WEFT_RULE(FuseSkipRmsNorm, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), skip = src.Tensor("skip"), gamma = src.Tensor("gamma");
  auto epsilon = src.Attr<float>("epsilon");
  auto out = src.Op<fused::RmsNorm>({.epsilon = epsilon})(x + skip, gamma);
  RequireSkip(src, x, skip, gamma);
  auto fused = res.Op<microsoft::SkipSimplifiedLayerNormalization>({.epsilon = epsilon});
  res.Tensor(out) = fused(x, skip, gamma);
}

// y = x + skip, rms_norm(y, gamma) => SkipSimplifiedLayerNormalization, which gives y too
WEFT_RULE(FuseSkipRmsNormSum, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), skip = src.Tensor("skip"), gamma = src.Tensor("gamma");
  auto epsilon = src.Attr<float>("epsilon");
  auto sum = x + skip;
  auto out = src.Op<fused::RmsNorm>({.epsilon = epsilon})(sum, gamma);
  RequireSkip(src, x, skip, gamma);
  auto fused = res.Op<microsoft::SkipSimplifiedLayerNormalization>({.epsilon = epsilon});
  auto made = WithSum(fused, x, skip, gamma);
  res.Tensor(out) = made.normal;
  res.Tensor(sum) = made.sum;
}

// group_norm(x) {activation = swish} => QuickGelu(group_norm(x)) {alpha = 1}: ONNX Runtime has no
// group normalisation on CPUs, and its parts have no room for an activation
WEFT_RULE(SplitGroupNormSwish, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto norm = src.Op<fused::GroupNorm>(AnyAttrs(), {.activation = fused::Activation::kSwish});
  auto out = norm(x, gamma, src.Optional(beta));
  auto plain = res.Like(norm, {.activation = fused::Activation::kNone})(x, gamma, beta);
  res.Tensor(out) = res.Op<microsoft::QuickGelu>({.alpha = 1.0f})(plain);
}

}  // namespace weft::passes
