// Activations from their parts. Rules whose result the kernels of fused ops would rather have in its parts,
// as one loop, are of the group "named-operators", which only the pipeline simplify runs.
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "passes/rules.h"

namespace weft::passes {

// clip(x + 3, 0, 6) / 6 => hard_sigmoid(x; 1/6, 1/2), not of f64: the attribute is a sixth of f32
WEFT_RULE(FuseHardSigmoid, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto clipped = src.Op<ops::Clip>()(x + 3, src.Splat(0), src.Splat(6));
  auto out = src.Either(clipped / 6, clipped * (1.0 / 6));
  src.Require("x is f32, f16 or bf16", DType(x, kF32, kF16, kBF16));
  src.Require(SameType(x, out));
  res.Tensor(out) = res.Op<ops::HardSigmoid>({.alpha = 1.0 / 6, .beta = 0.5})(x);
}

// clip(x * a + b, 0, 1) => hard_sigmoid(x; a, b), a and b numbers, as Keras writes it with 0.2; and x / d + b
WEFT_RULE(FuseClippedLine, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), a = src.Tensor("a"), b = src.Tensor("b"), d = src.Tensor("d");
  auto line = src.Either(x * a, x / d) + b;
  auto out = src.Op<ops::Clip>()(line, src.Splat(0), src.Splat(1));
  src.Require(DType(x, kF32), SameType(x, out), IsUniform(b));
  auto slope = src.Let("the slope is one number", Scaled(1, {a}, d));
  res.Tensor(out) = res.Op<ops::HardSigmoid>({.alpha = slope, .beta = SplatOf(b)})(x);
}

// x * hard_sigmoid(x; 1/6, 1/2) => hard_swish(x)
WEFT_RULE(FuseHardSwish, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto out = x * src.Op<ops::HardSigmoid>({.alpha = 1.0 / 6, .beta = 0.5})(x);
  res.Tensor(out) = res.Op<ops::HardSwish>()(x);
}

// x * clip(x + 3, 0, 6) / 6 => hard_swish(x), and with 1/6 as onnxscript and paddle2onnx round it
WEFT_RULE(FuseClippedHardSwish, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto gated = x * src.Op<ops::HardSigmoid>({.alpha = In{0.16666666, 0.1666667}, .beta = 0.5})(x);
  auto product = x * src.Op<ops::Clip>()(x + 3, src.Splat(0), src.Splat(6));
  auto out = src.EitherOf({gated, product / 6, product * (1.0 / 6)});
  src.Require(IsFloat(x), SameType(x, out));
  res.Tensor(out) = res.Op<ops::HardSwish>()(x);
}

// log(softmax(x)) => log_softmax(x). Where softmax is less than the least number of its type and becomes 0,
// whose logarithm is -inf, the result is the number that real arithmetic gives.
WEFT_RULE(FuseLogSoftmax, "canonicalize", kReassociates) {
  auto x = src.Tensor("x");
  auto axis = src.Attr<int64_t>("axis");
  auto out = src.Op<ops::Log>()(src.Op<ops::Softmax>({.axis = axis})(x));
  res.Tensor(out) = res.Op<ops::LogSoftmax>({.axis = axis})(x);
}

// log(exp(x) + 1) => softplus(x), of f32: before opset 22 there is none of bf16. Where exp(x) is infinite the
// result is the number that real arithmetic gives, x.
WEFT_RULE(FuseSoftplus, "named-operators", kReassociates) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Log>()(src.Op<ops::Exp>()(x) + 1);
  src.Require(DType(x, kF32), SameType(x, out));
  res.Tensor(out) = res.Op<ops::Softplus>()(x);
}

// x * tanh(softplus(x)) => mish(x), of opset 18
WEFT_RULE(FuseMish, "named-operators", kReassociates) {
  auto x = src.Tensor("x");
  auto out = x * src.Op<ops::Tanh>()(src.Op<ops::Softplus>()(x));
  res.Tensor(out) = res.Op<ops::Mish>()(x);
}

}  // namespace weft::passes
