// What the rules on quantised numbers share: QuantizeLinear and DequantizeLinear with one scale and
// one zero point, and the constants of fused products.
#pragma once

#include <optional>

#include "ir/dialects/onnx/quantize.h"
#include "passes/rules.h"

namespace weft::passes {

// An 8-bit number as a float; other users of that stay.
struct Dequantized {
  Tensor q, scale, zero_point;
  Tensor real;

  // Names of the three in messages.
  Dequantized(SourcePattern& src, std::string_view q_name, std::string_view scale_name,
              std::string_view zero_point_name)
      : q(src.Tensor(q_name)),
        scale(src.Tensor(scale_name)),
        zero_point(src.Tensor(zero_point_name)),
        real(src.Keep(
            src.Op<ops::DequantizeLinear>(AnyAttrs(), {.output_dtype = 0})(q, scale, zero_point))) {
    src.Require(PerTensor(scale, zero_point));
  }
};

// y, rounded to 8 bits.
struct Quantized {
  Tensor scale, zero_point;
  Tensor q;

  Quantized(SourcePattern& src, const Tensor& y)
      : scale(src.Tensor("y_scale")),
        zero_point(src.Tensor("y_zero_point")),
        q(src.Op<ops::QuantizeLinear>(AnyAttrs(), {.precision = 0})(y, scale, zero_point)) {
    src.Require(PerTensor(scale, zero_point));
  }
};

// The i32 bias of a product of x and w, quantised, whose result has a scale of its own: zeros where
// `bias` is absent. Nothing unless the weights are constants of 8 bits with positive scales, one or
// one per output channel, which is axis `channel_axis` of w; and the bias is a constant, dequantised
// or not, which rounding to units of x_scale * w_scale moves by less than 1/512 of a step of y.
struct ProductOperands {
  ir::Value w, w_scale, w_zero_point;
};
std::optional<ir::Attribute> BiasOfProduct(const MatchContext& m, const ProductOperands& weights,
                                           double x_scale, double y_scale, ir::Value bias,
                                           int64_t channel_axis);

}  // namespace weft::passes
