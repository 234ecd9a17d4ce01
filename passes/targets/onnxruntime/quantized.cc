// What stands between DequantizeLinear and QuantizeLinear as ONNX Runtime has it in one operator of 8-bit
// numbers, of one type in and out; and products of 8-bit numbers that are floats again.
#include "passes/fusion/quantized.h"

#include "ir/dialects/microsoft/quantized.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/quantized_math.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;

// Of a product of x and w.
void RequireTypes(SourcePattern& src, const Tensor& x, const Tensor& w) {
  src.Require("w is i8 where x is",
              [=](const MatchContext& m) { return m[x].dtype() == kU8 || m[w].dtype() == kI8; });
}

template <class Op, class QOp>
void FuseBinary(SourcePattern& src, ResultPattern& res) {
  const QuantizedBinary<Op> binary(src);
  src.Require(SameDType(binary.a.q, binary.b.q), SameDType(binary.a.q, binary.y.q));
  // ONNX Runtime refuses vectors of one number here.
  const auto scalar = [&](const Tensor& number) { return res.Constant(ScalarOf(number)); };
  const auto& [a, b, y] = binary;
  res.Tensor(y.q) = res.Op<QOp>()(a.q, scalar(a.scale), scalar(a.zero_point), b.q, scalar(b.scale),
                                  scalar(b.zero_point), scalar(y.scale), scalar(y.zero_point));
}

}  // namespace

// q(dq(a) + dq(b)) => com.microsoft.QLinearAdd(a, b)
WEFT_RULE(FuseQuantizedAddForOrt, "onnxruntime", kReassociates) {
  FuseBinary<ops::Add, microsoft::QLinearAdd>(src, res);
}

// q(dq(a) * dq(b)) => com.microsoft.QLinearMul(a, b)
WEFT_RULE(FuseQuantizedMulForOrt, "onnxruntime", kReassociates) {
  FuseBinary<ops::Mul, microsoft::QLinearMul>(src, res);
}

// q(conv(dq(x), dq(w), b)) => qlinear_conv(x, w, b)
WEFT_RULE(FuseQuantizedConvForOrt, "onnxruntime", kReassociates) {
  const QuantizedConv c(src);
  src.Require(SameDType(c.x.q, c.y.q));
  RequireTypes(src, c.x.q, c.w.w);
  res.Tensor(c.y.q) = res.Op<ops::QLinearConv>(AttrsOf(c.conv))(
      c.x.q, c.x.scale, c.x.zero_point, c.w.w, c.w.scale, c.w.zero_point, c.y.scale, c.y.zero_point,
      res.Constant(c.bias));
}

// q(matmul(dq(x), dq(w))) => qlinear_matmul(x, w)
WEFT_RULE(FuseQuantizedMatmulForOrt, "onnxruntime", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point"), w(src, "w", "w_scale", "w_zero_point");
  const Quantized y(src, src.Op<ops::MatMul>()(x.real, w.real));
  src.Require(SameDType(x.q, y.q));
  RequireTypes(src, x.q, w.q);
  res.Tensor(y.q) = res.Op<ops::QLinearMatMul>()(x.q, x.scale, x.zero_point, w.q, w.scale,
                                                 w.zero_point, y.scale, y.zero_point);
}

// q(gemm(dq(x), dq(w), b)) => com.microsoft.QGemm(x, w, b)
WEFT_RULE(FuseQuantizedGemmForOrt, "onnxruntime", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const QuantizedWeights w(src);
  auto b = src.Tensor("b");
  auto trans_b = src.Attr<int64_t>("transB");
  const Quantized y(src, src.Op<ops::Gemm>({.transB = trans_b})(x.real, w.real, src.Optional(b)));
  src.Require(SameDType(x.q, y.q));
  RequireTypes(src, x.q, w.w);
  auto bias =
      w.Bias(src, x, y, b, 2, [=](const MatchContext& m) { return m[trans_b] != 0 ? 0 : 1; });
  res.Tensor(y.q) = res.Op<microsoft::QGemm>({.transB = trans_b})(
      x.q, x.scale, x.zero_point, w.w, w.scale, w.zero_point, res.Constant(bias), y.scale,
      y.zero_point);
}

// cast(matmul_integer(x, w)) * (x_scale * w_scale) => com.microsoft.MatMulIntegerToFloat(x, w)
WEFT_RULE(FuseMatmulIntegerToFloatForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), x_scale = src.Tensor("x_scale"), x_zero = src.Tensor("x_zero_point");
  auto w = src.Tensor("w"), w_scale = src.Tensor("w_scale"), w_zero = src.Tensor("w_zero_point");
  auto sums = src.Op<ops::MatMulInteger>()(x, w, src.Optional(x_zero), src.Optional(w_zero));
  auto y = src.Op<ops::Cast>({.to = kF32})(sums);
  auto out = y * src.Keep(x_scale * w_scale);
  RequireTypes(src, x, w);
  src.Require(SameType(out, y), OneElement(x_scale), MaxRank(x_scale, 1), MaxRank(w_scale, 1),
              OneElement(IfGiven(x_zero)), MaxRank(IfGiven(x_zero), 1), MinRank(w, 2),
              MaxRank(IfGiven(w_zero), 1));
  res.Tensor(out) =
      res.Op<microsoft::MatMulIntegerToFloat>()(x, w, x_scale, w_scale, x_zero, w_zero);
}

// com.microsoft.MatMulIntegerToFloat(x, w) + b => com.microsoft.MatMulIntegerToFloat(x, w, b)
WEFT_RULE(FuseMatmulIntegerToFloatBiasForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), x_scale = src.Tensor("x_scale"), x_zero = src.Tensor("x_zero_point");
  auto w = src.Tensor("w"), w_scale = src.Tensor("w_scale"), w_zero = src.Tensor("w_zero_point");
  auto b = src.Tensor("b");
  auto y = src.Op<microsoft::MatMulIntegerToFloat>()(x, w, x_scale, w_scale, src.Optional(x_zero),
                                                     src.Optional(w_zero));
  auto out = y + b;
  src.Require(PerChannel(b, y, -1));
  res.Tensor(out) =
      res.Op<microsoft::MatMulIntegerToFloat>()(x, w, x_scale, w_scale, x_zero, w_zero, b);
}

// com.microsoft.MatMulIntegerToFloat(dynamic_quantize_linear(x), w) => com.microsoft.DynamicQuantizeMatMul(x, w)
WEFT_RULE(FuseDynamicQuantizeMatmulForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), b = src.Tensor("b");
  auto w = src.Tensor("w"), w_scale = src.Tensor("w_scale"), w_zero = src.Tensor("w_zero_point");
  auto [q, scale, zero] = src.Op<ops::DynamicQuantizeLinear>()(x);
  auto out = src.Op<microsoft::MatMulIntegerToFloat>()(q, w, scale, w_scale, zero,
                                                       src.Optional(w_zero), src.Optional(b));
  res.Tensor(out) = res.Op<microsoft::DynamicQuantizeMatMul>()(x, w, w_scale, w_zero, b);
}

// com.microsoft.DynamicQuantizeMatMul(x, w) + b => com.microsoft.DynamicQuantizeMatMul(x, w, b)
WEFT_RULE(FuseDynamicQuantizeMatmulBiasForOrt, "onnxruntime", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto w_scale = src.Tensor("w_scale"), w_zero = src.Tensor("w_zero_point");
  auto y = src.Op<microsoft::DynamicQuantizeMatMul>()(x, w, w_scale, src.Optional(w_zero));
  auto out = y + b;
  src.Require(PerChannel(b, y, -1));
  res.Tensor(out) = res.Op<microsoft::DynamicQuantizeMatMul>()(x, w, w_scale, w_zero, b);
}

// q(global_average_pool(dq(x))) => com.microsoft.QLinearGlobalAveragePool(x)
WEFT_RULE(FuseQuantizedGlobalAveragePoolForOrt, "onnxruntime", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const Quantized y(src, src.Op<ops::GlobalAveragePool>()(x.real));
  src.Require(SameDType(x.q, y.q));
  // ONNX Runtime refuses to run where x_scale / (y_scale * area) is not from 2^-32 to 2^8.
  src.Require("y_scale is from x_scale / 256 to x_scale * 256", [=](const MatchContext& m) {
    const auto of_x = ir::ConstantDoubles(m[x.scale].value()),
               of_y = ir::ConstantDoubles(m[y.scale].value());
    return (*of_x)[0] < (*of_y)[0] * 256 && (*of_y)[0] <= (*of_x)[0] * 256;
  });
  res.Tensor(y.q) = res.Op<microsoft::QLinearGlobalAveragePool>()(x.q, x.scale, x.zero_point,
                                                                  y.scale, y.zero_point);
}

}  // namespace weft::passes
