#include <numbers>

#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// A GELU that is spelled out in its parts.
struct GeluParts {
  Tensor x, out;
};

// out = x * 1/2 * (1 + erf(x / sqrt(2))), also with the half multiplied out
GeluParts ErfGelu(SourcePattern& src) {
  auto x = src.Tensor("x");
  auto half = src.Splat(0.5), one = src.Splat(1), two = src.Splat(2);
  auto root = src.Splat(std::numbers::sqrt2, 1e-6),
       inverse = src.Splat(1 / std::numbers::sqrt2, 1e-6);
  auto erf = src.Op<ops::Erf>()(src.Either(x / root, x * inverse));
  auto a = erf + one;
  auto out = src.EitherOf({x * half * a, x * a * half, x * (a * half), x / two * a, x * a / two,
                           x * (erf * half + half)});
  src.Require(DType(x, kF32));
  for (auto c : {half, one, two, root, inverse}) src.Require(Broadcasts(IfGiven(c), x));
  return {x, out};
}

// out = x * 1/2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), of GPT-2; also with an x of the sum taken
// out of it
GeluParts TanhGelu(SourcePattern& src) {
  auto x = src.Tensor("x");
  auto half = src.Splat(0.5), one = src.Splat(1), three = src.Splat(3);
  auto root = src.Splat(std::numbers::sqrt2 * std::numbers::inv_sqrtpi, 1e-6);
  auto weight = src.Splat(0.044715, 1e-6);
  auto cube = src.Either(src.Op<ops::Pow>()(x, three), x * x * x);
  auto square = src.Either(x * weight * x, x * x * weight);
  auto sum = src.Either((x + cube * weight) * root, x * root * (square + one));
  auto a = src.Op<ops::Tanh>()(sum) + one;
  auto out = src.EitherOf({x * half * a, x * a * half, x * (a * half)});
  src.Require(DType(x, kF32));
  for (auto c : {half, one, root, weight, three}) src.Require(Broadcasts(IfGiven(c), x));
  return {x, out};
}

}  // namespace

// x * 1/2 * (1 + erf(x / sqrt(2))) => fused.gelu(x)
WEFT_RULE(FuseErfGelu, "fuse-composite", kReassociates) {
  auto gelu = ErfGelu(src);
  res.Tensor(gelu.out) = res.Op<fused::Gelu>()(gelu.x);
}

// x * 1/2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) => fused.gelu(x; tanh)
WEFT_RULE(FuseTanhGelu, "fuse-composite", kReassociates) {
  auto gelu = TanhGelu(src);
  res.Tensor(gelu.out) =
      res.Op<fused::Gelu>({.approximate = fused::GeluApproximate::kTanh})(gelu.x);
}

// x * 1/2 * (1 + erf(x / sqrt(2))) => onnx.Gelu(x), of opset 20
WEFT_RULE(FuseErfGeluForOnnx, "named-operators", kReassociates) {
  auto gelu = ErfGelu(src);
  res.Tensor(gelu.out) = res.Op<ops::Gelu>()(gelu.x);
}

// x * 1/2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) => onnx.Gelu(x; tanh), of opset 20
WEFT_RULE(FuseTanhGeluForOnnx, "named-operators", kReassociates) {
  auto gelu = TanhGelu(src);
  res.Tensor(gelu.out) = res.Op<ops::Gelu>({.approximate = ops::GeluApproximation::kTanh})(gelu.x);
}

// onnx.Gelu(x) => fused.gelu(x), likewise approximate
WEFT_RULE(FuseGelu, "fuse-composite", kReassociates) {
  auto x = src.Tensor("x");
  auto gelu = src.Op<ops::Gelu>(AnyAttrs());
  auto out = gelu(x);
  src.Require(DType(x, kF32));
  res.Tensor(out) = res.Op<fused::Gelu>(AttrsOf(gelu))(x);
}

// gelu(x + b) => gelu(x, b), unless a product takes b in
WEFT_RULE(FuseGeluBias, "fuse-epilogue", kExact) {
  auto x = src.Tensor("x"), b = src.Tensor("b");
  auto approximate = src.Attr<fused::GeluApproximate>("approximate");
  const auto any = [&](const char* name) { return src.Tensor(name); };
  auto product = src.Op<fused::Linear>(AnyAttrs())(any("d"), any("v"), src.Optional(any("c")),
                                                   src.Optional(any("r")));
  auto matmul = src.Op<ops::MatMul>()(any("a"), any("w"));
  auto sum = src.Not(x, src.Either(product, matmul)) + b;
  auto out = src.Op<fused::Gelu>({.approximate = approximate})(sum);
  src.Require(PerChannel(b, x, -1), SameType(x, sum));
  res.Tensor(out) = res.Op<fused::Gelu>({.approximate = approximate})(x, b);
}

}  // namespace weft::passes
