// Convolutions and matrix products between DequantizeLinear and QuantizeLinear, or written as
// QLinearConv and QLinearMatMul, as products of integers that are rounded once.
#include "ir/dialects/fused/quantized_products.h"

#include <functional>

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/quantized_math.h"
#include "passes/fusion/quantized.h"
#include "passes/pattern_layout.h"

namespace weft::passes {
// q(conv(dq(x), dq(w), b)) => nchw(qconv2d(nhwc(x), w, b)), with explicit pads
WEFT_RULE(FuseQuantizedConv, "fuse-quantized", kReassociates) {
  const QuantizedConv c(src);
  res.Tensor(c.y.q) =
      ToNchw(res, res.Op<fused::QConv2d>(AttrsOf(c.conv))(
                      ToNhwc(res, c.x.q), c.x.scale, c.x.zero_point, c.w.w, c.w.scale,
                      c.w.zero_point, c.y.scale, c.y.zero_point, res.Constant(c.bias)));
}

// qlinear_conv(x, w, b) => nchw(qconv2d(nhwc(x), w, b)), with explicit pads
WEFT_RULE(FuseQlinearConv, "fuse-quantized", kReassociates) {
  auto x = src.Tensor("x"), x_scale = src.Tensor("x_scale"), x_zero = src.Tensor("x_zero_point");
  auto w = src.Tensor("w"), w_scale = src.Tensor("w_scale"), w_zero = src.Tensor("w_zero_point");
  auto y_scale = src.Tensor("y_scale"), y_zero = src.Tensor("y_zero_point"), b = src.Tensor("b");
  auto conv = src.Op<ops::QLinearConv>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet});
  auto out = conv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, src.Optional(b));
  src.Require(Rank(x, 4), Rank(w, 4), IsConstant(w), DType(x_scale, kF32), DType(w_scale, kF32),
              DType(y_scale, kF32));
  for (const Tensor& t : {x_scale, x_zero, w_scale, w_zero, y_scale, y_zero})
    src.Require("scales and zero points have rank 0 or 1", MaxRank(t, 1));
  res.Tensor(out) =
      ToNchw(res, res.Op<fused::QConv2d>(AttrsOf(conv))(ToNhwc(res, x), x_scale, x_zero, w, w_scale,
                                                        w_zero, y_scale, y_zero, b));
}

namespace {

// q(product) as qlinear.
void FuseLinear(SourcePattern& src, ResultPattern& res, const Dequantized& x,
                const QuantizedWeights& w, const Tensor& b, const Tensor& product,
                const std::function<bool(const MatchContext&)>& transposed) {
  const Quantized y(src, product);
  auto bias = w.Bias(src, x, y, b, 2, [=](const MatchContext& m) { return transposed(m) ? 0 : 1; });
  res.Tensor(y.q) = res.Op<fused::QLinear>({.transpose_w = transposed})(
      x.q, x.scale, x.zero_point, w.w, w.scale, w.zero_point, y.scale, y.zero_point,
      res.Constant(bias));
}

}  // namespace

// q(matmul(dq(x), dq(w)) + b) => qlinear(x, w, b), also without b
WEFT_RULE(FuseQuantizedMatmul, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const QuantizedWeights w(src);
  auto b = src.Tensor("b");
  auto product = src.Op<ops::MatMul>()(x.real, w.real);
  src.Require(MinRank(x.q, 2));
  FuseLinear(src, res, x, w, b, src.Either(product + b, product),
             [](const MatchContext&) { return false; });
}

// q(gemm(dq(a), dq(w), b)) => qlinear(a, w, b)
WEFT_RULE(FuseQuantizedGemm, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const QuantizedWeights w(src);
  auto b = src.Tensor("b");
  auto trans_b = src.Attr<int64_t>("transB");
  auto product = src.Op<ops::Gemm>({.transB = trans_b})(x.real, w.real, src.Optional(b));
  FuseLinear(src, res, x, w, b, product, [=](const MatchContext& m) { return m[trans_b] != 0; });
}

// qlinear_matmul(x, w) => qlinear(x, w)
WEFT_RULE(FuseQlinearMatmul, "fuse-quantized", kReassociates) {
  auto x = src.Tensor("x"), x_scale = src.Tensor("x_scale"), x_zero = src.Tensor("x_zero_point");
  auto w = src.Tensor("w"), w_scale = src.Tensor("w_scale"), w_zero = src.Tensor("w_zero_point");
  auto y_scale = src.Tensor("y_scale"), y_zero = src.Tensor("y_zero_point");
  auto out = src.Op<ops::QLinearMatMul>()(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero);
  src.Require(Rank(w, 2), MaxRank(w_scale, 1), MaxRank(w_zero, 1), DType(w_scale, kF32),
              PerTensor(x_scale, x_zero), PerTensor(y_scale, y_zero));
  src.Profitable(IsConstant(w));  // which is packed once
  res.Tensor(out) =
      res.Op<fused::QLinear>()(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero);
}

// matmul(x, dq(w)) => dequantize_matmul(x, w), of constant weights quantised in blocks of rows: they stay
// as small as they are
WEFT_RULE(FuseDequantizeMatmul, "fuse-quantized", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w");
  auto scale = src.Tensor("w_scale"), zero = src.Tensor("w_zero_point");
  auto dequantize = src.Op<ops::DequantizeLinear>(
      {.axis = In{0, -2}, .block_size = In{16, 32, 64, 128, 256}}, {.output_dtype = 0});
  auto out = src.Op<ops::MatMul>()(x, dequantize(w, scale, src.Optional(zero)));
  src.Require(Rank(w, 2), IsConstant(w), IsConstant(scale), IsConstant(IfGiven(zero)),
              DType(scale, kF32));
  src.Require("w has 8 bits or less", [=](const MatchContext& m) {
    const ir::DataType dtype = m[w].value().type().dtype();
    return ir::IsLowPrecisionInteger(dtype) || dtype == kI8 || dtype == kU8;
  });
  res.Tensor(out) =
      res.Op<fused::DequantizeMatmul>(AttrsOf(dequantize))(x, w, scale, src.Optional(zero));
}

}  // namespace weft::passes
