// Activations as ONNX Runtime has them in one operator.
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/microsoft/activation.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;

}  // namespace

// fused.gelu(x) => com.microsoft.Gelu(x)
WEFT_RULE(LowerGeluToMicrosoft, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x");
  auto out = src.Op<fused::Gelu>()(x);
  src.Require(DType(x, kF32));
  res.Tensor(out) = res.Op<microsoft::Gelu>()(x);
}

// fused.gelu(x, b) => com.microsoft.BiasGelu(x, b)
WEFT_RULE(LowerGeluBiasToMicrosoft, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), b = src.Tensor("b");
  auto out = src.Op<fused::Gelu>()(x, b);
  src.Require(DType(x, kF32), PerChannel(b, x, -1));
  res.Tensor(out) = res.Op<microsoft::BiasGelu>()(x, b);
}

// fused.gelu(x, b) {tanh} => com.microsoft.FastGelu(x, b)
WEFT_RULE(LowerTanhGeluToMicrosoft, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), b = src.Tensor("b");
  auto gelu = src.Op<fused::Gelu>({.approximate = fused::GeluApproximate::kTanh});
  auto out = gelu(x, src.Optional(b));
  src.Require(DType(x, kF32), PerChannel(IfGiven(b), x, -1));
  res.Tensor(out) = res.Op<microsoft::FastGelu>()(x, b);
}

// gelu(x + b) => com.microsoft.BiasGelu(x, b)
WEFT_RULE(FuseBiasGelu, "onnxruntime", kExact) {
  auto x = src.Tensor("x"), b = src.Tensor("b");
  auto sum = x + b;
  auto out = src.Op<microsoft::Gelu>()(sum);
  src.Require(PerChannel(b, x, -1), SameType(x, sum));
  res.Tensor(out) = res.Op<microsoft::BiasGelu>()(x, b);
}

// fast_gelu(x + b) => com.microsoft.FastGelu(x, b)
WEFT_RULE(FuseFastGeluBias, "onnxruntime", kExact) {
  auto x = src.Tensor("x"), b = src.Tensor("b");
  auto sum = x + b;
  auto out = src.Op<microsoft::FastGelu>()(sum);
  src.Require(PerChannel(b, x, -1), SameType(x, sum));
  res.Tensor(out) = res.Op<microsoft::FastGelu>()(x, b);
}

// x * sigmoid(x) => com.microsoft.QuickGelu(x) {alpha = 1}
WEFT_RULE(FuseSwishToQuickGelu, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x");
  auto out = x * src.Op<ops::Sigmoid>()(x);
  src.Require(DType(x, kF32));
  res.Tensor(out) = res.Op<microsoft::QuickGelu>({.alpha = 1.0f})(x);
}

// x * sigmoid(x * alpha) => com.microsoft.QuickGelu(x) {alpha}
WEFT_RULE(FuseQuickGelu, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), alpha = src.Tensor("alpha");
  auto scaled = x * alpha;
  auto out = x * src.Op<ops::Sigmoid>()(scaled);
  src.Require(DType(x, kF32), IsUniform(alpha), SameType(x, scaled));
  res.Tensor(out) = res.Op<microsoft::QuickGelu>({.alpha = SplatOf(alpha)})(x);
}

}  // namespace weft::passes
