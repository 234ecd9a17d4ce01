// What a linear or a convolution does to its result before it is stored: a residual is added, then
// an activation is applied. A transposed convolution applies an activation.
#include <optional>
#include <utility>

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
constexpr bool kTakesResidual = F::kInfo.operands.size() > 3;

// f(x, w, b, r) without an activation; without r where an F takes no residual.
template <class F>
struct Inactive {
  OpPattern<F> f;
  Tensor x, w, b;
  std::optional<Tensor> r;
  Tensor y;

  explicit Inactive(SourcePattern& src)
      : f(WithoutActivation<F>(src)),
        x(src.Tensor("x")),
        w(src.Tensor("w")),
        b(src.Tensor("b")),
        r(kTakesResidual<F> ? std::optional(src.Tensor("r")) : std::nullopt),
        y(Match(src)) {}

  // The same f with other attributes.
  ResultTensor Like(ResultPattern& res, ResultAttrs<F> attrs) const {
    const ResultOpPattern<F> like = res.Like(f, std::move(attrs));
    if constexpr (kTakesResidual<F>) {
      return like(x, w, b, *r);
    } else {
      return like(x, w, b);
    }
  }

 private:
  Tensor Match(SourcePattern& src) const {
    if constexpr (kTakesResidual<F>) {
      return f(x, w, src.Optional(b), src.Optional(*r));
    } else {
      return f(x, w, src.Optional(b));
    }
  }
};

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
  const Inactive<F> f(src);
  auto low = src.Tensor("low"), high = src.Tensor("high");
  auto out = src.Op<ops::Clip>()(f.y, src.Optional(low), src.Optional(high));
  src.Require(DType(f.x, kF32), IsUniform(IfGiven(low)), IsUniform(IfGiven(high)));
  res.Tensor(out) = f.Like(
      res, {.activation = fused::Activation::kClip, .activation_params = BoundsOf(low, high)});
}

template <class... Ops>
auto OneOfThem(SourcePattern& src, fused::OpList<Ops...>) {
  return src.OneOf<Ops...>(AnyAttrs());
}

template <class F>
void FuseActivation(SourcePattern& src, ResultPattern& res) {
  const Inactive<F> f(src);
  auto out = OneOfThem(src, fused::ActivationOps())(f.y);
  auto params = src.Let("the GELU is the exact one, not its tanh form", FloatAttributes(out));
  res.Tensor(out) = f.Like(res, {.activation = SnakeOpName(out), .activation_params = params});
}

// y * sigmoid(y) of y = f(x, w, b, r), which exporters write where torch has SiLU.
template <class F>
void FuseSwish(SourcePattern& src, ResultPattern& res) {
  const Inactive<F> f(src);
  auto out = f.y * src.Op<ops::Sigmoid>()(f.y);
  res.Tensor(out) = f.Like(res, {.activation = fused::Activation::kSwish});
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

// a(conv_transpose2d(x, w, b)) => conv_transpose2d {activation = a}
WEFT_RULE(FuseConvTransposeActivation, "fuse-epilogue", kExact,
          .algebra = "a(conv_transpose2d(x, w, b)) => conv_transpose2d {activation = a}") {
  FuseActivation<fused::ConvTranspose2d>(src, res);
}

// y * sigmoid(y) => linear {activation = swish}, where y = linear(x, w, b, r)
WEFT_RULE(FuseLinearSwish, "fuse-epilogue", kReassociates) { FuseSwish<fused::Linear>(src, res); }

// y * sigmoid(y) => conv2d {activation = swish}, where y = conv2d(x, w, b, r)
WEFT_RULE(FuseConvSwish, "fuse-epilogue", kReassociates) { FuseSwish<fused::Conv2d>(src, res); }

// y * sigmoid(y) => conv_transpose2d {activation = swish}, where y = conv_transpose2d(x, w, b)
WEFT_RULE(FuseConvTransposeSwish, "fuse-epilogue", kReassociates) {
  FuseSwish<fused::ConvTranspose2d>(src, res);
}

// clip(linear(x, w, b, r), low, high) => linear {activation = clip}
WEFT_RULE(FuseLinearClip, "fuse-epilogue", kExact) { FuseClip<fused::Linear>(src, res); }

// clip(conv2d(x, w, b, r), low, high) => conv2d {activation = clip}
WEFT_RULE(FuseConvClip, "fuse-epilogue", kExact) { FuseClip<fused::Conv2d>(src, res); }

// clip(conv_transpose2d(x, w, b), low, high) => conv_transpose2d {activation = clip}
WEFT_RULE(FuseConvTransposeClip, "fuse-epilogue", kExact) {
  FuseClip<fused::ConvTranspose2d>(src, res);
}

}  // namespace weft::passes
