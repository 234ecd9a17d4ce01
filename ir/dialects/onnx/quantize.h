// Linear quantisation: a number r is stored as the integer q, where r = (q - zero_point) * scale.
// The scale and the zero point are scalars, or have one element per entry of dimension `axis` of x;
// the zero point is 0 when it is not given.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

struct QuantizeOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{1}}); }
  };
};

// The result has the element type of y_zero_point, u8 without it.
struct QuantizeLinear : QuantizeOp {
  static constexpr OpInfo kInfo = {
      .name = "onnx.QuantizeLinear",
      .operands = {"x", "y_scale", Optional("y_zero_point")},
      .traits = kPure | kAxisOfOperand,
      .onnx = "QuantizeLinear",
      .since = 13,
      .doc = "saturate(round_half_to_even(x / y_scale) + y_zero_point)"};
  static bool Infer(InferContext& c);
};

struct DequantizeLinear : QuantizeOp {
  static constexpr OpInfo kInfo = {.name = "onnx.DequantizeLinear",
                                   .operands = {"x", "x_scale", Optional("x_zero_point")},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "DequantizeLinear",
                                   .since = 13,
                                   .doc = "(x - x_zero_point) * x_scale"};
  static bool Infer(InferContext& c);
};

void LoadQuantizeOps(IrContext& context);

}  // namespace weft::ir::ops
