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
namespace {

constexpr std::string_view kWeights =
    "the weights have 8 bits and positive scales, one or one per output channel, and the bias, if "
    "given, is a constant that 32 bits hold";

// Constant weights, one scale for all or one per channel.
struct Weights {
  Tensor w, scale, zero_point;
  OpPattern<ops::DequantizeLinear> op;
  Tensor real;

  explicit Weights(SourcePattern& src)
      : w(src.Tensor("w")),
        scale(src.Tensor("w_scale")),
        zero_point(src.Tensor("w_zero_point")),
        op(src.Op<ops::DequantizeLinear>(AnyAttrs(), {.output_dtype = 0})),
        real(src.Keep(op(w, scale, zero_point))) {}

  // Their bias, with the channels along that axis of w.
  Let<ir::Attribute> Bias(SourcePattern& src, const Dequantized& x, const Quantized& y,
                          const Tensor& bias, int64_t rank,
                          const std::function<int64_t(const MatchContext&)>& channel_axis) const {
    return src.Let(
        kWeights, [=, this_ = *this](const MatchContext& m) -> std::optional<ir::Attribute> {
          if (m[this_.w].rank() != rank) return std::nullopt;
          const int64_t axis = channel_axis(m);
          const ir::Value scale = m[this_.scale].value();
          if (scale.type().NumElements() != 1 &&
              ir::NormalAxis(m[this_.op].axis, static_cast<size_t>(rank)) != axis)
            return std::nullopt;
          return BiasOfProduct(m, {m[this_.w].value(), scale, m[this_.zero_point].value()},
                               *m[x.scale].splat(), *m[y.scale].splat(),
                               m.Has(bias) ? m[bias].value() : ir::Value(), axis);
        });
  }
};

}  // namespace

// q(conv(dq(x), dq(w), b)) => nchw(qconv2d(nhwc(x), w, b)), with explicit pads
WEFT_RULE(FuseQuantizedConv, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const Weights w(src);
  auto b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet});
  const Quantized y(src, conv(x.real, w.real, src.Optional(b)));
  auto bias = w.Bias(src, x, y, b, 4, [](const MatchContext&) { return 0; });
  res.Tensor(y.q) =
      ToNchw(res, res.Op<fused::QConv2d>(AttrsOf(conv))(
                      ToNhwc(res, x.q), x.scale, x.zero_point, w.w, w.scale, w.zero_point, y.scale,
                      y.zero_point, res.Constant([=](const MatchContext& m) { return m[bias]; })));
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
void FuseLinear(SourcePattern& src, ResultPattern& res, const Dequantized& x, const Weights& w,
                const Tensor& b, const Tensor& product,
                const std::function<bool(const MatchContext&)>& transposed) {
  const Quantized y(src, product);
  auto bias = w.Bias(src, x, y, b, 2, [=](const MatchContext& m) { return transposed(m) ? 0 : 1; });
  res.Tensor(y.q) = res.Op<fused::QLinear>({.transpose_w = transposed})(
      x.q, x.scale, x.zero_point, w.w, w.scale, w.zero_point, y.scale, y.zero_point,
      res.Constant([=](const MatchContext& m) { return m[bias]; }));
}

}  // namespace

// q(matmul(dq(x), dq(w)) + b) => qlinear(x, w, b), also without b
WEFT_RULE(FuseQuantizedMatmul, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const Weights w(src);
  auto b = src.Tensor("b");
  auto product = src.Op<ops::MatMul>()(x.real, w.real);
  src.Require(MinRank(x.q, 2));
  FuseLinear(src, res, x, w, b, src.Either(product + b, product),
             [](const MatchContext&) { return false; });
}

// q(gemm(dq(a), dq(w), b)) => qlinear(a, w, b)
WEFT_RULE(FuseQuantizedGemm, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const Weights w(src);
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
  src.Require(MinRank(x, 2), Rank(w, 2), IsConstant(w), MaxRank(w_scale, 1), MaxRank(w_zero, 1),
              DType(w_scale, kF32), PerTensor(x_scale, x_zero), PerTensor(y_scale, y_zero));
  res.Tensor(out) =
      res.Op<fused::QLinear>()(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero);
}

}  // namespace weft::passes
