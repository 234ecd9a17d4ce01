// Matrix products and convolutions with what stands beside them, as ONNX Runtime has them in one
// operator.
#include "ir/dialects/microsoft/matmul.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/quantize.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;
using microsoft::ConvActivation;
using microsoft::FusedMatMul;
using microsoft::GemmActivation;

// A transpose of x that exchanges the last two dimensions and moves no other.
Tensor Turned(SourcePattern& src, const Tensor& x) {
  auto perm = src.Attr<Ints>("perm");
  auto turned = src.Op<ops::Transpose>({.perm = perm})(x);
  src.Require("the transpose exchanges the last two dimensions", SwapsLast(perm));
  return src.Keep(turned);
}

// Whatever either does to its operands; alpha is 1 of a MatMul.
auto AnyProduct(SourcePattern& src, const Attr<float>& alpha) {
  return src.OneOf<FusedMatMul, ops::MatMul>({.alpha = alpha,
                                              .transA = Any(),
                                              .transB = Any(),
                                              .transBatchA = Any(),
                                              .transBatchB = Any()},
                                             AnyAttrs());
}

// ONNX Runtime makes one operator of 8-bit numbers of what stands between DequantizeLinear and
// QuantizeLinear, if it finds there what ONNX has.
Tensor NotDequantized(SourcePattern& src, const Tensor& x) {
  auto integers = src.Op<ops::DequantizeLinear>(AnyAttrs())(
      src.Tensor("q"), src.Tensor("q_scale"), src.Optional(src.Tensor("q_zero_point")));
  return src.Not(x, integers);
}

}  // namespace

// matmul(transpose(a), b) => com.microsoft.FusedMatMul(a, b) {transA}
WEFT_RULE(FuseTransposeA, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto product = src.OneOf<FusedMatMul, ops::MatMul>(
      {.alpha = Any(), .transA = 0, .transB = Any(), .transBatchA = 0, .transBatchB = Any()},
      AnyAttrs());
  auto out = product(Turned(src, a), b);
  src.Require(DType(a, kF32), MinRank(b, 2));
  res.Tensor(out) = res.Op<FusedMatMul>(AttrsOf(product), {.transA = 1})(a, b);
}

// matmul(a, transpose(b)) => com.microsoft.FusedMatMul(a, b) {transB}
WEFT_RULE(FuseTransposeB, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b");
  auto product = src.OneOf<FusedMatMul, ops::MatMul>(
      {.alpha = Any(), .transA = Any(), .transB = 0, .transBatchA = Any(), .transBatchB = 0},
      AnyAttrs());
  auto out = product(a, Turned(src, b));
  src.Require(DType(a, kF32), MinRank(a, 2));
  res.Tensor(out) = res.Op<FusedMatMul>(AttrsOf(product), {.transB = 1})(a, b);
}

// matmul(a, b) * c => com.microsoft.FusedMatMul(a, b) {alpha = c}; likewise / d
WEFT_RULE(FuseMatmulScale, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c"), d = src.Tensor("d");
  auto alpha = src.Attr<float>("alpha");
  auto product = AnyProduct(src, alpha);
  auto y = product(NotDequantized(src, a), b);
  auto out = src.Either(y * c, y / d);
  src.Require(DType(a, kF32), SameType(out, y));
  src.Profitable(MinRank(a, 2), MinRank(b, 2));  // of a vector the weights take the factor
  res.Tensor(out) = res.Op<FusedMatMul>(AttrsOf(product), {.alpha = Scaled(alpha, {c}, d)})(a, b);
}

// matmul(reshape(a * c), b) => com.microsoft.FusedMatMul(reshape(a), b) {alpha = c}, whatever moves it;
// / d likewise
WEFT_RULE(FuseMatmulScaledOperand, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c"), d = src.Tensor("d");
  auto alpha = src.Attr<float>("alpha");
  auto product = AnyProduct(src, alpha);
  auto scaled = src.Either(a * c, a / d);
  auto moves = src.Repeat<ops::Reshape, ops::Transpose>(AnyAttrs(), {.max = 2});
  auto moved = moves(src.Keep(scaled));
  auto out = product(src.Recompute(moved), b);
  src.Require(DType(a, kF32), SameType(scaled, a));
  src.Profitable(MinRank(moved, 2), MinRank(b, 2));  // likewise
  res.Tensor(out) = res.Op<FusedMatMul>(AttrsOf(product), {.alpha = Scaled(alpha, {c}, d)})(
      res.Like(moves)(a), b);
}

// f(gemm(a, b, c)) => com.microsoft.FusedGemm(a, b, c) {activation = f}
WEFT_RULE(FuseGemmActivationForOrt, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs());
  auto f = src.OneOf<ops::Relu, ops::Sigmoid, ops::Tanh, ops::Softplus, ops::Softsign>(AnyAttrs());
  auto out = f(gemm(NotDequantized(src, a), b, src.Optional(c)));
  src.Require(DType(a, kF32));
  res.Tensor(out) =
      res.Op<microsoft::FusedGemm>(AttrsOf(gemm), {.activation = OpName(out)})(a, b, c);
}

// leaky_relu(gemm(a, b, c)) => com.microsoft.FusedGemm(a, b, c) {activation = LeakyRelu}
WEFT_RULE(FuseGemmLeakyForOrt, "onnxruntime", kReassociates) {
  auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
  auto alpha = src.Attr<float>("alpha");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs());
  auto out =
      src.Op<ops::LeakyRelu>({.alpha = alpha})(gemm(NotDequantized(src, a), b, src.Optional(c)));
  src.Require(DType(a, kF32));
  res.Tensor(out) = res.Op<microsoft::FusedGemm>(
      AttrsOf(gemm), {.activation = GemmActivation::kLeakyRelu, .activation_alpha = alpha})(a, b,
                                                                                            c);
}

// a(conv(x, w, b)) => com.microsoft.FusedConv(x, w, b) {activation = a}
WEFT_RULE(FuseConvActivationForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto a =
      src.OneOf<ops::Relu, ops::Sigmoid, ops::Tanh, ops::LeakyRelu, ops::HardSigmoid>(AnyAttrs());
  auto out = a(conv(NotDequantized(src, x), w, src.Optional(b)));
  src.Require(DType(x, kF32), MaxRank(x, 4));
  res.Tensor(out) = res.Op<microsoft::FusedConv>(
      AttrsOf(conv), {.activation = OpName(out), .activation_params = FloatAttributes(out)})(x, w,
                                                                                             b);
}

// clip(conv(x, w, b), low, high) => com.microsoft.FusedConv(x, w, b) {activation = Clip}
WEFT_RULE(FuseConvClipForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto low = src.Tensor("low"), high = src.Tensor("high");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto out = src.Op<ops::Clip>()(conv(NotDequantized(src, x), w, src.Optional(b)),
                                 src.Optional(low), src.Optional(high));
  src.Require(DType(x, kF32), MaxRank(x, 4), IsUniform(IfGiven(low)), IsUniform(IfGiven(high)));
  res.Tensor(out) = res.Op<microsoft::FusedConv>(
      AttrsOf(conv),
      {.activation = ConvActivation::kClip, .activation_params = BoundsOf(low, high)})(x, w, b);
}

// relu(conv(x, w, b) + z) => com.microsoft.FusedConv(x, w, b, z) {activation = Relu}
WEFT_RULE(FuseConvSumForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), z = src.Tensor("z");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(NotDequantized(src, x), w, src.Optional(b));
  auto out = src.Op<ops::Relu>()(y + z);
  src.Require(DType(x, kF32), Rank(x, 4), SameType(y, z));
  res.Tensor(out) = res.Op<microsoft::FusedConv>(AttrsOf(conv),
                                                 {.activation = ConvActivation::kRelu})(x, w, b, z);
}

}  // namespace weft::passes
