// What the rules on quantised numbers share: QuantizeLinear and DequantizeLinear with one scale and
// one zero point, and products between them.
#pragma once

#include <functional>
#include <optional>

#include "ir/dialects/onnx/nn/conv.h"
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

// q(op(dq(a), dq(b))).
template <class Op>
struct QuantizedBinary {
  Dequantized a, b;
  Quantized y;

  explicit QuantizedBinary(SourcePattern& src)
      : a(src, "a", "a_scale", "a_zero_point"),
        b(src, "b", "b_scale", "b_zero_point"),
        y(src, src.Op<Op>()(a.real, b.real)) {}

  template <class QOp>
  void ReplaceBy(ResultPattern& res) const {
    res.Tensor(y.q) = res.Op<QOp>()(a.q, a.scale, a.zero_point, b.q, b.scale, b.zero_point, y.scale,
                                    y.zero_point);
  }
};

// Constant weights of a product, one scale for all or one per output channel.
struct QuantizedWeights {
  Tensor w, scale, zero_point;
  OpPattern<ops::DequantizeLinear> op;
  Tensor real;

  explicit QuantizedWeights(SourcePattern& src);

  // The i32 bias of x times w, whose result y has a scale of its own: zeros where `bias` is absent.
  // w has that rank, and its output channels lie along `channel_axis`. Nothing unless the weights are
  // constants of 8 bits with positive scales, one or one per output channel; and the bias is a
  // constant, dequantised or not, with one number per output channel along its last axis, which
  // rounding to units of x_scale * w_scale moves by less than 1/512 of a step of y; and 32 bits hold
  // every sum.
  Let<ir::Attribute> Bias(SourcePattern& src, const Dequantized& x, const Quantized& y,
                          const Tensor& bias, int64_t rank,
                          const std::function<int64_t(const MatchContext&)>& channel_axis) const;
};

// q(conv(dq(x), dq(w), b)), with explicit pads.
struct QuantizedConv {
  Dequantized x;
  QuantizedWeights w;
  Tensor b;
  OpPattern<ops::Conv> conv;
  Quantized y;
  Let<ir::Attribute> bias;  // b in integers

  explicit QuantizedConv(SourcePattern& src);
};

}  // namespace weft::passes
