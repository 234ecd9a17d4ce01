// What a linear or a convolution does to its result before it is stored: a residual is added, then
// an activation is applied.
#include "ir/dialects/fused/activation_ops.h"
#include "ir/dialects/fused/conv.h"
#include "ir/dialects/fused/matmul.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// An F without an activation.
template <class F>
OpPattern<F> WithoutActivation(SourcePattern& src) {
  return src.Op<F>(AnyAttrs(), {.activation = fused::Activation::kNone});
}

template <class F>
void FuseResidual(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
  auto f = WithoutActivation<F>(src);
  auto y = f(x, w, src.Optional(b));
  auto out = y + r;
  src.Require(SameType(r, y), SameType(out, y));
  res.Tensor(out) = res.Like(f)(x, w, b, r);
}

// Of f32 only: the bounds become attributes, which are f32.
template <class F>
void FuseClip(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
  auto low = src.Tensor("low"), high = src.Tensor("high");
  auto f = WithoutActivation<F>(src);
  auto out = src.Op<ops::Clip>()(f(x, w, src.Optional(b), src.Optional(r)), src.Optional(low),
                                 src.Optional(high));
  src.Require(DType(x, kF32), IsUniform(IfGiven(low)), IsUniform(IfGiven(high)));
  res.Tensor(out) = res.Like(f, {.activation = fused::Activation::kClip,
                                 .activation_params = BoundsOf(low, high)})(x, w, b, r);
}

template <class... Ops>
auto OneOfThem(SourcePattern& src, fused::OpList<Ops...>) {
  return src.OneOf<Ops...>(AnyAttrs());
}

template <class F>
void FuseActivation(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
  auto f = WithoutActivation<F>(src);
  auto a = OneOfThem(src, fused::ActivationOps());
  auto out = a(f(x, w, src.Optional(b), src.Optional(r)));
  auto params = src.Let("the GELU is the exact one, not its tanh form", FloatAttributes(out));
  res.Tensor(out) =
      res.Like(f, {.activation = SnakeOpName(out), .activation_params = params})(x, w, b, r);
}

// y * sigmoid(y) of y = f(x, w, b, r), which exporters write where torch has SiLU.
template <class F>
void FuseSwish(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), r = src.Tensor("r");
  auto f = WithoutActivation<F>(src);
  auto y = f(x, w, src.Optional(b), src.Optional(r));
  auto out = y * src.Op<ops::Sigmoid>()(y);
  res.Tensor(out) = res.Like(f, {.activation = fused::Activation::kSwish})(x, w, b, r);
}

}  // namespace

// linear(x, w, b) + r => linear(x, w, b, r)
WEFT_RULE(FuseLinearResidual, "fuse-epilogue", kReassociates) {
  FuseResidual<fused::Linear>(src, res);
}

// conv2d(x, w, b) + r => conv2d(x, w, b, r)
WEFT_RULE(FuseConvResidual, "fuse-epilogue", kReassociates) {
  FuseResidual<fused::Conv2d>(src, res);
}

// a(linear(x, w, b, r)) => linear {activation = a}
WEFT_RULE(FuseLinearActivation, "fuse-epilogue", kExact,
          .algebra = "a(linear(x, w, b, r)) => linear {activation = a}") {
  FuseActivation<fused::Linear>(src, res);
}

// a(conv2d(x, w, b, r)) => conv2d {activation = a}
WEFT_RULE(FuseConvActivation, "fuse-epilogue", kExact, .seed = "ai-system",
          .algebra = "a(conv2d(x, w, b, r)) => conv2d {activation = a}") {
  FuseActivation<fused::Conv2d>(src, res);
}

// y * sigmoid(y) => linear {activation = swish}, where y = linear(x, w, b, r)
WEFT_RULE(FuseLinearSwish, "fuse-epilogue", kReassociates) { FuseSwish<fused::Linear>(src, res); }

// y * sigmoid(y) => conv2d {activation = swish}, where y = conv2d(x, w, b, r)
WEFT_RULE(FuseConvSwish, "fuse-epilogue", kReassociates) { FuseSwish<fused::Conv2d>(src, res); }

// clip(linear(x, w, b, r), low, high) => linear {activation = clip}
WEFT_RULE(FuseLinearClip, "fuse-epilogue", kExact) { FuseClip<fused::Linear>(src, res); }

// clip(conv2d(x, w, b, r), low, high) => conv2d {activation = clip}
WEFT_RULE(FuseConvClip, "fuse-epilogue", kExact) { FuseClip<fused::Conv2d>(src, res); }

}  // namespace weft::passes
