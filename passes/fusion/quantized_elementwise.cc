// Sums, products and means between DequantizeLinear and QuantizeLinear.
#include "ir/dialects/fused/quantized_elementwise.h"

#include "ir/dialects/fused/quantized_pool.h"
#include "ir/dialects/fused/quantized_products.h"
#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "passes/fusion/quantized.h"
#include "passes/pattern_layout.h"

namespace weft::passes {
// q(dq(a) + dq(b)) => qadd(a, b)
WEFT_RULE(FuseQuantizedAdd, "fuse-quantized", kReassociates,
          .algebra = "q(dq(a) + dq(b)) => qadd(a, b)") {
  QuantizedBinary<ops::Add>(src).ReplaceBy<fused::QAdd>(res);
}

// q(dq(a) * dq(b)) => qmul(a, b)
WEFT_RULE(FuseQuantizedMul, "fuse-quantized", kReassociates,
          .algebra = "q(dq(a) * dq(b)) => qmul(a, b)") {
  QuantizedBinary<ops::Mul>(src).ReplaceBy<fused::QMul>(res);
}

namespace {

template <class Op, class... Operands>
void FuseClip(SourcePattern& src, ResultPattern& res, const Operands&... operands) {
  auto low = src.Tensor("low"), high = src.Tensor("high");
  auto f = src.Op<Op>(AnyAttrs(), {.clamp = Ints()});
  auto y = f(operands...);
  auto out = src.Op<ops::Clip>()(y, src.Optional(low), src.Optional(high));
  src.Require("the bounds are constants in order", IsUniform(IfGiven(low)),
              IsUniform(IfGiven(high)), NoGreater(IfGiven(low), IfGiven(high)));
  res.Tensor(out) = res.Like(f, {.clamp = IntegerBounds(y, low, high)})(operands...);
}

template <class Op>
void FuseClipOfBinary(SourcePattern& src, ResultPattern& res) {
  FuseClip<Op>(src, res, src.Tensor("a"), src.Tensor("a_scale"), src.Tensor("a_zero_point"),
               src.Tensor("b"), src.Tensor("b_scale"), src.Tensor("b_zero_point"),
               src.Tensor("y_scale"), src.Tensor("y_zero_point"));
}

template <class Op>
void FuseClipOfProduct(SourcePattern& src, ResultPattern& res) {
  FuseClip<Op>(src, res, src.Tensor("x"), src.Tensor("x_scale"), src.Tensor("x_zero_point"),
               src.Tensor("w"), src.Tensor("w_scale"), src.Tensor("w_zero_point"),
               src.Tensor("y_scale"), src.Tensor("y_zero_point"), src.Optional(src.Tensor("b")));
}

}  // namespace

// clip(qconv2d(...), low, high) => qconv2d {clamp = [low, high]}
WEFT_RULE(FuseQuantizedConvClip, "fuse-epilogue", kExact,
          .algebra = "clip(qconv2d(...), low, high) => qconv2d {clamp = [low, high]}") {
  FuseClipOfProduct<fused::QConv2d>(src, res);
}
// clip(qlinear(...), low, high) => qlinear {clamp = [low, high]}
WEFT_RULE(FuseQuantizedLinearClip, "fuse-epilogue", kExact,
          .algebra = "clip(qlinear(...), low, high) => qlinear {clamp = [low, high]}") {
  FuseClipOfProduct<fused::QLinear>(src, res);
}
// clip(qadd(a, b), low, high) => qadd {clamp = [low, high]}
WEFT_RULE(FuseQuantizedAddClip, "fuse-epilogue", kExact,
          .algebra = "clip(qadd(a, b), low, high) => qadd {clamp = [low, high]}") {
  FuseClipOfBinary<fused::QAdd>(src, res);
}
// clip(qmul(a, b), low, high) => qmul {clamp = [low, high]}
WEFT_RULE(FuseQuantizedMulClip, "fuse-epilogue", kExact,
          .algebra = "clip(qmul(a, b), low, high) => qmul {clamp = [low, high]}") {
  FuseClipOfBinary<fused::QMul>(src, res);
}

// q(average_pool(dq(x))) => nchw(qaverage_pool2d(nhwc(x))), with explicit pads
WEFT_RULE(FuseQuantizedAveragePool, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  auto ceil_mode = src.Attr<int64_t>("ceil_mode");
  auto count_include_pad = src.Attr<int64_t>("count_include_pad");
  auto pool = src.Op<ops::AveragePool>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet,
                                                    .ceil_mode = ceil_mode,
                                                    .count_include_pad = count_include_pad,
                                                    .dilations = In{Ints{1, 1}}.OrAbsent()});
  const Quantized y(src, pool(x.real));
  src.Require(Rank(x.q, 4));
  auto mean = res.Op<fused::QAveragePool2d>(
      AttrsOf(pool),
      {.ceil_mode = AsBool(ceil_mode), .count_include_pad = AsBool(count_include_pad)});
  res.Tensor(y.q) =
      ToNchw(res, mean(ToNhwc(res, x.q), x.scale, x.zero_point, y.scale, y.zero_point));
}

// q(global_average_pool(dq(x))) => nchw(qglobal_average_pool2d(nhwc(x)))
WEFT_RULE(FuseQuantizedGlobalAveragePool, "fuse-quantized", kReassociates) {
  const Dequantized x(src, "x", "x_scale", "x_zero_point");
  const Quantized y(src, src.Op<ops::GlobalAveragePool>()(x.real));
  src.Require(Rank(x.q, 4));
  res.Tensor(y.q) =
      ToNchw(res, res.Op<fused::QGlobalAveragePool2d>()(ToNhwc(res, x.q), x.scale, x.zero_point,
                                                        y.scale, y.zero_point));
}

}  // namespace weft::passes
