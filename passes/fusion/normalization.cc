#include "ir/dialects/fused/normalization.h"

#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/reduce.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// Normalizations over the last axes that are spelled out in their parts. Beta may be absent, and gamma is
// what the parts multiply by, or a constant that is computed.
template <class Gamma>
struct LayerNormParts {
  Tensor x, beta, epsilon;
  Gamma gamma;
  Attr<Ints> axes;
  Tensor out;
};
struct RmsNormParts {
  Tensor x, gamma, epsilon, out;
};

// Of axes that LastAxes knows, hence some.
Tensor Mean(SourcePattern& src, const Tensor& x, const Attr<Ints>& axes) {
  return src.Op<ops::ReduceMean>({.axes = axes, .noop_with_empty_axes = Any()})(x);
}

// x^2, as a power, whose exponent is then `two`, or as a product.
Tensor Square(SourcePattern& src, const Tensor& x, const Tensor& two) {
  return src.Either(src.Op<ops::Pow>()(x, two), x * x);
}

// sqrt(x + epsilon), of one number that leaves x its shape.
Tensor RootWith(SourcePattern& src, const Tensor& epsilon, const Tensor& x) {
  src.Require(IsUniform(epsilon), Broadcasts(epsilon, x));
  return src.Op<ops::Sqrt>()(x + epsilon);
}

// x / sqrt(variance + epsilon), of one number, with the inverse of the root in the spellings there are: torch's rsqrt
// is 1 / sqrt, the Reciprocal of it, or a power, which is 0 of minus infinity where a root is no number.
Tensor DividedByRoot(SourcePattern& src, const Tensor& x, const Tensor& variance,
                     const Tensor& epsilon) {
  src.Require(Positive(epsilon));
  auto one = src.Splat(1), exponent = src.Splat(-0.5);
  auto sum = variance + epsilon;
  auto root = src.Op<ops::Sqrt>()(sum);
  src.Require(OneElement(IfGiven(one)), OneElement(IfGiven(exponent)));
  return src.EitherOf({x / root, x * (one / root), x * src.Op<ops::Reciprocal>()(root),
                       x * src.Op<ops::Pow>()(sum, exponent)});
}

// out = (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gamma + beta. A product with ones and a sum with
// zeros may have been simplified away, hence no gamma or no beta.
auto PlainLayerNorm(SourcePattern& src) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Tensor("epsilon");
  auto axes = src.Attr<Ints>("axes");
  auto d = x - Mean(src, x, axes);
  auto two = src.Splat(2);
  auto square = Square(src, d, two);
  auto variance = Mean(src, square, axes);
  auto normalised = DividedByRoot(src, d, variance, epsilon);
  auto scaled = src.Either(normalised * gamma, normalised);
  auto out = src.Either(scaled + beta, scaled);
  src.Require(OneElement(IfGiven(two)), Broadcasts(epsilon, variance), DType(x, kF32),
              LastAxes(axes, x), LastDims(IfGiven(gamma), x, axes),
              LastDims(IfGiven(beta), x, axes));
  auto scale = src.Let("the sizes of the last axes are known", Ones(x, axes, gamma));
  return LayerNormParts<decltype(scale)>{x, beta, epsilon, scale, axes, out};
}

// out = x * s + (beta - mean * s), where s = gamma / sqrt(mean((x - mean)^2) + epsilon), as TensorFlow
// multiplies it out
auto ExpandedLayerNorm(SourcePattern& src) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Tensor("epsilon");
  auto axes = src.Attr<Ints>("axes");
  auto mean = Mean(src, x, axes);
  auto d = x - mean;
  auto root = RootWith(src, epsilon, Mean(src, d * d, axes));
  auto s = src.Op<ops::Reciprocal>()(root) * gamma;
  auto out = x * s + (beta - mean * s);
  src.Require(DType(x, kF32), LastAxes(axes, x), LastDims(gamma, x, axes), LastDims(beta, x, axes));
  return LayerNormParts<Tensor>{x, beta, epsilon, gamma, axes, out};
}

// out = (x - mean) * s + beta, where s = gamma / sqrt(mean(x^2) - mean^2 + epsilon), as flax does it: the
// variance, bounded by 0 or not, without a second pass over x
auto UncentredLayerNorm(SourcePattern& src) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Tensor("epsilon");
  auto axes = src.Attr<Ints>("axes");
  auto mean = Mean(src, x, axes);
  auto one = src.Splat(1), two = src.Splat(2), zero = src.Splat(0);
  auto square = Square(src, x, two);
  auto difference = Mean(src, square, axes) - mean * mean;
  auto variance = src.EitherOf(
      {src.Op<ops::Max>()(difference, zero), src.Op<ops::Relu>()(difference), difference});
  auto root = RootWith(src, epsilon, variance);
  auto s = src.Either(src.Op<ops::Reciprocal>()(root), one / root) * gamma;
  auto out = (x - mean) * s + beta;
  src.Require(OneElement(IfGiven(one)), OneElement(IfGiven(two)), OneElement(IfGiven(zero)),
              DType(x, kF32), LastAxes(axes, x), LastDims(gamma, x, axes), LastDims(beta, x, axes));
  return LayerNormParts<Tensor>{x, beta, epsilon, gamma, axes, out};
}

// out = x / sqrt(mean(x^2) + epsilon) * gamma, the mean over the last axis
RmsNormParts RmsNorm(SourcePattern& src) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), epsilon = src.Tensor("epsilon");
  auto axes = src.Attr<Ints>("axes");
  auto two = src.Splat(2);
  auto square = Square(src, x, two);
  auto out = DividedByRoot(src, x, Mean(src, square, axes), epsilon) * gamma;
  src.Require(OneElement(IfGiven(two)), DType(x, kF32), LastAxes(axes, x), CountIs(axes, 1),
              PerChannel(gamma, x, -1), SameRank(out, x));
  return {x, gamma, epsilon, out};
}

template <class Norm, class Parts, class Gamma>
void Normalise(ResultPattern& res, const Parts& norm, const Gamma& gamma) {
  res.Tensor(norm.out) = res.Op<Norm>(
      {.axis = StartOfLast(norm.axes), .epsilon = SplatOf(norm.epsilon)})(norm.x, gamma, norm.beta);
}

}  // namespace

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gamma + beta => fused.layer_norm(x, gamma, beta)
WEFT_RULE(FuseLayerNorm, "fuse-composite", kReassociates) {
  const auto norm = PlainLayerNorm(src);
  Normalise<fused::LayerNorm>(res, norm, res.Constant(norm.gamma));
}

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gamma + beta => layer_normalization(x, gamma, beta),
// of opset 17
WEFT_RULE(FuseLayerNormForOnnx, "named-operators", kReassociates) {
  const auto norm = PlainLayerNorm(src);
  Normalise<ops::LayerNormalization>(res, norm, res.Constant(norm.gamma));
}

// x * s + (beta - mean * s) => fused.layer_norm(x, gamma, beta), where s = gamma / sqrt(mean((x - mean)^2) +
// epsilon)
WEFT_RULE(FuseExpandedLayerNorm, "fuse-composite", kReassociates) {
  const auto norm = ExpandedLayerNorm(src);
  Normalise<fused::LayerNorm>(res, norm, norm.gamma);
}

// x * s + (beta - mean * s) => layer_normalization(x, gamma, beta), likewise
WEFT_RULE(FuseExpandedLayerNormForOnnx, "named-operators", kReassociates) {
  const auto norm = ExpandedLayerNorm(src);
  Normalise<ops::LayerNormalization>(res, norm, norm.gamma);
}

// layer_normalization(x, gamma, beta) => fused.layer_norm(x, gamma, beta), unless gamma or beta is
// broadcast
WEFT_RULE(FuseLayerNormalization, "fuse-composite", kReassociates,
          .aliases = {"lower-layer-normalization"}) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto axis = src.Attr<int64_t>("axis");
  auto epsilon = src.Attr<float>("epsilon");
  auto out = src.Op<ops::LayerNormalization>({.axis = axis, .epsilon = epsilon})(
      x, gamma, src.Optional(beta));
  src.Require(DType(x, kF32));
  src.Require("gamma and beta are not broadcast", CoversFrom(gamma, x, axis),
              CoversFrom(IfGiven(beta), x, axis));
  res.Tensor(out) = res.Op<fused::LayerNorm>({.axis = axis, .epsilon = epsilon})(x, gamma, beta);
}

// (x - mean) * s + beta => fused.layer_norm(x, gamma, beta), where s = gamma / sqrt(mean(x^2) - mean^2 +
// epsilon): what that difference cancels is not lost any more
WEFT_RULE(FuseUncentredLayerNorm, "fuse-composite", kReassociates) {
  const auto norm = UncentredLayerNorm(src);
  Normalise<fused::LayerNorm>(res, norm, norm.gamma);
}

// (x - mean) * s + beta => layer_normalization(x, gamma, beta), likewise
WEFT_RULE(FuseUncentredLayerNormForOnnx, "named-operators", kReassociates) {
  const auto norm = UncentredLayerNorm(src);
  Normalise<ops::LayerNormalization>(res, norm, norm.gamma);
}

// x / sqrt(mean(x^2) + epsilon) * gamma => fused.rms_norm(x, gamma). Tried after layer_norm, whose
// difference from the mean can be the x of this rule.
WEFT_RULE(FuseRmsNorm, "fuse-composite", kReassociates, .benefit = 6) {
  auto norm = RmsNorm(src);
  res.Tensor(norm.out) =
      res.Op<fused::RmsNorm>({.epsilon = SplatOf(norm.epsilon)})(norm.x, norm.gamma);
}

// x / sqrt(mean(x^2) + epsilon) * gamma => rms_normalization(x, gamma), of opset 23; after
// layer_normalization, likewise
WEFT_RULE(FuseRmsNormForOnnx, "named-operators", kReassociates, .benefit = 6) {
  auto norm = RmsNorm(src);
  res.Tensor(norm.out) =
      res.Op<ops::RMSNormalization>({.epsilon = SplatOf(norm.epsilon)})(norm.x, norm.gamma);
}

// cast(x / sqrt(mean(x^2) + epsilon)) => cast(rms_norm(x, 1)): what is computed in f32 for a model in f16,
// which multiplies by gamma afterwards
WEFT_RULE(FuseCastRmsNorm, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x"), epsilon = src.Tensor("epsilon");
  auto axes = src.Attr<Ints>("axes");
  auto two = src.Splat(2);
  auto square = Square(src, x, two);
  auto normal = DividedByRoot(src, x, Mean(src, square, axes), epsilon);
  auto cast = src.Op<ops::Cast>(AnyAttrs());
  auto out = cast(normal);
  src.Require(OneElement(IfGiven(two)), DType(x, kF32), LastAxes(axes, x), SameRank(normal, x));
  src.Require("the last axis alone, of known size", CountIs(axes, 1), StaticDim(x, -1));
  auto norm = res.Op<fused::RmsNorm>({.epsilon = SplatOf(epsilon)})(x, res.Constant(Ones(x, axes)));
  res.Tensor(out) = res.Like(cast)(norm);
}

// onnx.RMSNormalization(x, gamma) => fused.rms_norm(x, gamma), over the last axis
WEFT_RULE(FuseRmsNormalization, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma");
  auto axis = src.Attr<int64_t>("axis");
  auto epsilon = src.Attr<float>("epsilon");
  auto out = src.Op<ops::RMSNormalization>({.axis = axis, .epsilon = epsilon})(x, gamma);
  src.Require(DType(x, kF32), SameAxis(x, axis, -1), PerChannel(gamma, x, -1));
  res.Tensor(out) = res.Op<fused::RmsNorm>({.epsilon = epsilon})(x, gamma);
}

// scale * reshape(instance_norm(reshape(x, [0, groups, -1]))) + bias => group_norm(x, scale, bias), as
// torch up to opset 20 spells it
WEFT_RULE(FuseGroupNorm, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x"), gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Attr<float>("epsilon");
  auto groups = src.Op<ops::Reshape>(AnyAttrs())(x, src.Tensor("flat"));
  auto normal =
      src.Op<ops::InstanceNormalization>({.epsilon = epsilon})(groups, src.Splat(1), src.Splat(0));
  auto back = src.Op<ops::Reshape>(AnyAttrs())(normal, src.Tensor("shape"));
  auto out = back * gamma + beta;
  src.Require(DType(x, kF32), SameDim(groups, 0, x, 0), SameType(back, x));
  src.Require("gamma and beta have a number for each channel", VariesAlong(gamma, x, 1),
              VariesAlong(beta, x, 1), StaticDim(x, 1));
  res.Tensor(out) =
      res.Op<fused::GroupNorm>({.groups = DimOf(groups, 1), .epsilon = epsilon})(x, gamma, beta);
}

// onnx.GroupNormalization(x, scale, bias) => fused.group_norm(x, scale, bias)
WEFT_RULE(FuseGroupNormalization, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x"), scale = src.Tensor("scale"), bias = src.Tensor("bias");
  auto groups = src.Attr<int64_t>("groups");
  auto epsilon = src.Attr<float>("epsilon");
  auto out =
      src.Op<ops::GroupNormalization>({.epsilon = epsilon, .num_groups = groups})(x, scale, bias);
  src.Require(DType(x, kF32));
  auto column = res.ConstantInts(ListAlong(x, 1));
  const auto reshaped = [&](const Tensor& t) { return res.Op<ops::Reshape>()(t, column); };
  res.Tensor(out) = res.Op<fused::GroupNorm>({.groups = groups, .epsilon = epsilon})(
      x, reshaped(scale), reshaped(bias));
}

// y * sigmoid(y) => group_norm {activation = swish}, where y = group_norm(x, scale, bias)
WEFT_RULE(FuseGroupNormSwish, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x"), scale = src.Tensor("scale"), bias = src.Tensor("bias");
  auto norm = src.Op<fused::GroupNorm>(AnyAttrs(), {.activation = fused::Activation::kNone});
  auto y = norm(x, scale, src.Optional(bias));
  auto out = y * src.Op<ops::Sigmoid>()(y);
  res.Tensor(out) = res.Like(norm, {.activation = fused::Activation::kSwish})(x, scale, bias);
}

}  // namespace weft::passes
